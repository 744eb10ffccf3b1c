{{/* Values that cannot work together end the rendering with a sentence. Included by settings.yaml. */}}
{{- define "shepherd.checks" -}}
{{- $s := .Values.settings }}
{{- $lookup := float64 $s.LOOKUP_TIMEOUT }}
{{- $query := float64 $s.QUERY_TIMEOUT_SEC }}
{{- $reserve := float64 $s.FINISH_RESERVE_SEC }}
{{- if and (gt $query 0.0) (ge $lookup $query) }}
{{- fail (printf "settings.LOOKUP_TIMEOUT (%v s) must be less than settings.QUERY_TIMEOUT_SEC (%v s): the lookup is a part of the query." $lookup $query) }}
{{- end }}
{{- if and (gt $query 0.0) (gt (addf $lookup $reserve) $query) }}
{{- fail (printf "settings.LOOKUP_TIMEOUT (%v s) and settings.FINISH_RESERVE_SEC (%v s) together must not exceed settings.QUERY_TIMEOUT_SEC (%v s): every lookup would be cut short to leave time for merging, ranking and delivery." $lookup $reserve $query) }}
{{- end }}
{{- if ge (float64 $s.RETRIEVER_TIMEOUT_MARGIN) $lookup }}
{{- fail (printf "settings.RETRIEVER_TIMEOUT_MARGIN (%v s) must be less than settings.LOOKUP_TIMEOUT (%v s): the margin is taken from the lookup." (float64 $s.RETRIEVER_TIMEOUT_MARGIN) $lookup) }}
{{- end }}
{{- if gt (float64 $s.KG_RETRIEVAL_SUBMIT_TIMEOUT) $lookup }}
{{- fail (printf "settings.KG_RETRIEVAL_SUBMIT_TIMEOUT (%v s) must not exceed settings.LOOKUP_TIMEOUT (%v s): an acknowledgement that comes later is of no use." (float64 $s.KG_RETRIEVAL_SUBMIT_TIMEOUT) $lookup) }}
{{- end }}
{{- if ne (empty $s.OMNICORP_CURIES_LMDB_PATH) (empty $s.OMNICORP_SHARED_COUNTS_LMDB_PATH) }}
{{- fail "settings.OMNICORP_CURIES_LMDB_PATH and settings.OMNICORP_SHARED_COUNTS_LMDB_PATH must be set both or neither." }}
{{- end }}
{{- if gt (float64 $s.ADMISSION_MEMORY_PCT) 100.0 }}
{{- fail "settings.ADMISSION_MEMORY_PCT is a share of Redis's memory and cannot exceed 100." }}
{{- end }}

{{- $components := include "shepherd.workers" . | fromYaml }}
{{- $_ := set $components "gateway" (deepCopy .Values.gateway) }}
{{- range $name, $component := $components }}
{{- $drain := include "shepherd.drain" (dict "root" $ "component" $component) | float64 }}
{{- $pause := float64 ($component.preStopSec | default 0) }}
{{- if ge (addf $drain $pause) (float64 $component.terminationGracePeriodSeconds) }}
{{- fail (printf "terminationGracePeriodSeconds of %s (%v s) must exceed its WORKER_DRAIN_TIMEOUT_SEC (%v s) and preStopSec (%v s) together: Kubernetes would kill it before it has handed its work back." $name $component.terminationGracePeriodSeconds $drain $pause) }}
{{- end }}
{{- if gt (int $component.autoscaling.minReplicas) (int $component.autoscaling.maxReplicas) }}
{{- fail (printf "autoscaling.minReplicas of %s must not exceed its maxReplicas." $name) }}
{{- end }}
{{- range $key, $_ := $component.settings }}
{{- if not (hasKey $s $key) }}
{{- fail (printf "%s sets %s, which is no setting of Shepherd." $name $key) }}
{{- end }}
{{- end }}
{{- end }}
{{- range $name, $_ := .Values.workers }}
{{- if has $name (list "gateway" "redis" "workers") }}
{{- fail (printf "a worker cannot be called %s: another object of this chart is." $name) }}
{{- end }}
{{- end }}

{{- if and .Values.ingress.enabled (empty .Values.ingress.hosts) }}
{{- fail "ingress.enabled needs a name in ingress.hosts." }}
{{- end }}
{{- if .Values.bundledRedis.enabled }}
{{- if not (or $s.REDIS_PASSWORD .Values.existingSecret) }}
{{- fail "bundledRedis.enabled needs a password: name existingSecret, or set settings.REDIS_PASSWORD." }}
{{- end }}
{{- if or $s.REDIS_URL (ne $s.REDIS_HOST "localhost") }}
{{- fail "bundledRedis.enabled and another Redis in settings.REDIS_HOST or settings.REDIS_URL exclude each other." }}
{{- end }}
{{- end }}
{{- if and (eq .Values.autoscaling "keda") $s.REDIS_URL (not (or .Values.keda.address .Values.keda.metadata)) }}
{{- fail "autoscaling by keda with settings.REDIS_URL needs keda.address or keda.metadata: KEDA does not read that URL." }}
{{- end }}
{{- end }}
