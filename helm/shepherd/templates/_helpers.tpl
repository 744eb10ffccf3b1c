{{- define "shepherd.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Short enough that the name of a worker still fits behind it. */}}
{{- define "shepherd.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "shepherd.name" .) .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "shepherd.name" .) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "shepherd.selector" -}}
app.kubernetes.io/name: {{ include "shepherd.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "shepherd.labels" -}}
{{ include "shepherd.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "shepherd.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "shepherd.fullname" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "shepherd.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Settings that belong into a Secret; tests/deploy/settings.py compares them with the code's. */}}
{{- define "shepherd.secrets" -}} REDIS_PASSWORD REDIS_URL {{- end }}

{{- define "shepherd.secretName" -}}
{{- .Values.existingSecret | default (include "shepherd.fullname" .) }}
{{- end }}

{{/* A setting as text; Helm would write a million as 1e+06. */}}
{{- define "shepherd.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{- define "shepherd.redisHost" -}}
{{- if and .Values.bundledRedis.enabled (eq .Values.settings.REDIS_HOST "localhost") -}}
{{ include "shepherd.fullname" . }}-redis
{{- else -}}
{{ .Values.settings.REDIS_HOST }}
{{- end }}
{{- end }}

{{/* What a name of the settings is in this cluster, as `name: "value"` lines. Left empty counts as not set. */}}
{{- define "shepherd.environment" -}}
{{- $gateway := printf "http://%s-gateway.%s.svc:%v" (include "shepherd.fullname" .) .Release.Namespace .Values.service.port }}
{{- $secrets := splitList " " (include "shepherd.secrets" . | trim) }}
{{- range $name, $value := .Values.settings }}
{{- $text := include "shepherd.text" $value }}
{{- if eq $name "REDIS_HOST" }}
{{- $text = include "shepherd.redisHost" $ }}
{{- else if and (eq $name "CALLBACK_HOST") (hasPrefix "http://localhost:" $text) }}
{{- $text = $gateway }}
{{- else if and (eq $name "SERVER_URL") (hasPrefix "http://localhost:" $text) }}
{{- $text = $gateway }}
{{- with $.Values.ingress }}
{{- if and .enabled .hosts }}
{{- $text = printf "%s://%s" (ternary "https" "http" (not (empty .tls))) (first .hosts) }}
{{- end }}
{{- end }}
{{- end }}
{{- if not (or (has $name $secrets) (kindIs "invalid" $value) (eq $text "")) }}
{{ $name }}: {{ $text | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* The workers that are switched on, each with the defaults that it does not set itself. */}}
{{- define "shepherd.workers" -}}
{{- $all := dict }}
{{- range $name, $worker := .Values.workers }}
{{- $whole := mergeOverwrite (deepCopy $.Values.workerDefaults) (deepCopy ($worker | default dict)) }}
{{- if $whole.enabled }}
{{- $_ := set $all $name $whole }}
{{- end }}
{{- end }}
{{- toYaml $all }}
{{- end }}

{{/* The drain time of a gateway or worker, in seconds. */}}
{{- define "shepherd.drain" -}}
{{- $own := .component.settings | default dict }}
{{- get $own "WORKER_DRAIN_TIMEOUT_SEC" | default .root.Values.settings.WORKER_DRAIN_TIMEOUT_SEC }}
{{- end }}

{{/*
The Deployment of the gateway or of a worker.
`root`, `name`, `program`, `component` (its values), `port` (name and number of the one that answers health checks)
*/}}
{{- define "shepherd.deployment" -}}
{{- $root := .root }}
{{- $name := printf "%s-%s" (include "shepherd.fullname" $root) .name }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "shepherd.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  {{- $mode := $root.Values.autoscaling }}
  {{- if not (or (eq $mode "hpa") (and (eq $mode "keda") (or (eq .name "gateway") .component.streams))) }}
  replicas: {{ .component.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  selector:
    matchLabels:
      {{- include "shepherd.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .name }}
  strategy:
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
  template:
    metadata:
      annotations:
        checksum/settings: {{ include (print $root.Template.BasePath "/settings.yaml") $root | sha256sum }}
        {{- with $root.Values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      labels:
        {{- include "shepherd.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .name }}
        shepherd/role: {{ ternary "gateway" "worker" (eq .name "gateway") }}
        {{- with $root.Values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "shepherd.serviceAccount" $root }}
      automountServiceAccountToken: false
      # else a Service named redis makes Kubernetes set REDIS_PORT to tcp://…
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ .component.terminationGracePeriodSeconds }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 10001
        runAsGroup: 10001
        seccompProfile: {type: RuntimeDefault}
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- with $root.Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.topologySpread }}
      {{- if .enabled }}
      topologySpreadConstraints:
        - maxSkew: {{ .maxSkew }}
          topologyKey: {{ .topologyKey }}
          whenUnsatisfiable: {{ .whenUnsatisfiable }}
          labelSelector:
            matchLabels:
              {{- include "shepherd.selector" $root | nindent 14 }}
              app.kubernetes.io/component: {{ $.name }}
      {{- end }}
      {{- end }}
      containers:
        - name: {{ .name }}
          image: {{ include "shepherd.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          command: [{{ .program }}]
          envFrom:
            - configMapRef: {name: {{ include "shepherd.fullname" $root }}}
          env:
            {{- range $key := splitList " " (include "shepherd.secrets" $root | trim) }}
            - name: {{ $key }}
              valueFrom:
                secretKeyRef: {name: {{ include "shepherd.secretName" $root }}, key: {{ $key }}, optional: true}
            {{- end }}
            {{- range $key, $value := .component.settings }}
            - {name: {{ $key }}, value: {{ include "shepherd.text" $value | quote }}}
            {{- end }}
          ports:
            - {name: {{ .port.name }}, containerPort: {{ .port.number }}}
          startupProbe:
            httpGet: {path: /livez, port: {{ .port.name }}}
            periodSeconds: 1
            failureThreshold: 60
          # Never Redis: a restart would not bring it back.
          livenessProbe:
            httpGet: {path: /livez, port: {{ .port.name }}}
            periodSeconds: 10
            timeoutSeconds: 3
          readinessProbe:
            httpGet: {path: /readyz, port: {{ .port.name }}}
            periodSeconds: 5
            timeoutSeconds: 2
          {{- with .component.preStopSec }}
          lifecycle:
            preStop:
              exec: {command: [sleep, {{ . | quote }}]}
          {{- end }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          resources:
            {{- toYaml .component.resources | nindent 12 }}
          {{- with $root.Values.extraVolumeMounts }}
          volumeMounts:
            {{- toYaml . | nindent 12 }}
          {{- end }}
      {{- with $root.Values.extraVolumes }}
      volumes:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}

{{/* A HorizontalPodAutoscaler by processor time: `root`, `name`, `component`. */}}
{{- define "shepherd.hpa" -}}
{{- $name := printf "%s-%s" (include "shepherd.fullname" .root) .name }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name }}
  labels:
    {{- include "shepherd.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ $name }}}
  minReplicas: {{ .component.autoscaling.minReplicas }}
  maxReplicas: {{ .component.autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: {{ .component.autoscaling.cpuPercent }}}
{{- end }}

{{/* A PodDisruptionBudget: `root`, `name`. */}}
{{- define "shepherd.pdb" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "shepherd.fullname" .root }}-{{ .name }}
  labels:
    {{- include "shepherd.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  # not minAvailable: equal to the replicas it would block every drain of a node
  maxUnavailable: {{ .root.Values.podDisruptionBudget.maxUnavailable }}
  selector:
    matchLabels:
      {{- include "shepherd.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .name }}
{{- end }}
