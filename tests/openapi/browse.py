"""Opens /docs in a browser and posts the sample query from there, as a person would."""

import json
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions as seen
from selenium.webdriver.support.ui import WebDriverWait

LIMIT = 60

base = sys.argv[1]
options = Options()
options.binary_location = sys.argv[2]
for flag in [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,2400",
    f"--user-data-dir={tempfile.mkdtemp()}",
]:
    options.add_argument(flag)
options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
driver = webdriver.Chrome(options=options, service=Service(sys.argv[3]))
try:
    wait = WebDriverWait(driver, LIMIT)
    driver.get(f"{base}/docs/?urls.primaryName=aragorn")
    operation = wait.until(
        seen.presence_of_element_located((By.XPATH, "//span[@data-path='/aragorn/query']/ancestor::div[contains(@class,'opblock ')]"))
    )
    operation.find_element(By.CSS_SELECTOR, ".opblock-summary-control").click()
    execute = lambda found: operation.find_elements(By.CSS_SELECTOR, "button.execute")
    trying = lambda found: operation.find_elements(By.CSS_SELECTOR, "button.try-out__btn")
    wait.until(lambda found: execute(found) or trying(found))
    if not execute(driver):
        trying(driver)[0].click()
        wait.until(execute)
    button = execute(driver)[0]
    driver.execute_script("arguments[0].scrollIntoView()", button)
    wait.until(seen.element_to_be_clickable(button)).click()
    status = wait.until(
        lambda found: [
            cell.text.split()[0]
            for cell in operation.find_elements(By.CSS_SELECTOR, ".live-responses-table .response-col_status")
            if cell.text.strip()[:1].isdigit()
        ]
    )
    assert status[0] == "200", f"the sample query was answered with {status}"
    answer = ".live-responses-table .response .response-col_description"
    wait.until(lambda found: "knowledge_graph" in operation.find_element(By.CSS_SELECTOR, answer).text)
    requests = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    urls = [one["params"]["request"]["url"] for one in requests if one["method"] == "Network.requestWillBeSent"]
    elsewhere = [url for url in urls if not url.startswith((base, "data:", "blob:", "chrome"))]
    assert not elsewhere, f"the page asks elsewhere: {elsewhere}"
    print(f"browser: the sample query was answered with {status[0]}; nothing was asked elsewhere")
except Exception:
    driver.save_screenshot("docs.png")
    raise
finally:
    driver.quit()
