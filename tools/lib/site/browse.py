#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""browse.py <folder of the site> <folder for pictures> [chromium]

Reads the site in a browser as a visitor does. Each page of the guides is opened in a wide and in a narrow window, in the
light and in the dark scheme, and some pages of the reference are; each gets a picture. A page fails if it

 - writes an error to the console, or asks another machine for anything;
 - has a picture that does not load;
 - is wider than its window, so that all of it has to be scrolled sideways;
 - has text with less contrast to its background than WCAG 2 requires of large text;
 - has a link that leads nowhere, or to an anchor that is not there. Links count as the browser sees them, after scripts.

The search must find a word that only one guide explains. The browser is driven through two pipes, so that nothing but
Python and a Chromium is needed."""
import base64
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SITE, PICTURES = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
REFERENCE = ("classrondo_1_1RoundSession.html", "annotated.html")
# By scheme, since a page asks for it while it loads: the windows, by name.
VIEWS = {"light": {"wide": (1280, 1000), "narrow": (400, 900)}, "dark": {"dark": (1280, 1000)}}

# Faults of the page that is open, and the addresses of its links.
LOOK = """(() => {
  const faults = [];
  for (const image of document.images)
    if (image.complete && image.naturalWidth === 0) faults.push('the picture ' + image.src + ' does not load');
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 1) faults.push('is ' + wide + ' pixels wider than its window');
  const luminance = rgb => rgb.slice(0, 3)
    .map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const parts = color => { const n = color.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3]));
  const ground = element => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.backgroundImage !== 'none') return null;
      const color = parts(style.backgroundColor);
      if (color[3] > 0) layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reduceRight((under, layer) => over(layer, under), [255, 255, 255]);
  };
  const seen = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
    if (!text || !element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})) continue;
    if (element.closest('.headerlink, script, style, [hidden], .md-search')) continue;
    const style = getComputedStyle(element), under = ground(element);
    if (under === null) continue;
    const [a, b] = [luminance(over(parts(style.color), under)), luminance(under)].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05), key = style.color + under;
    if (contrast >= 3 || seen.has(key)) continue;
    seen.add(key);
    faults.push('"' + text.slice(0, 30) + '" has a contrast of ' + contrast.toFixed(1) + ' only');
  }
  return {faults, links: [...document.links].map(link => link.href)};
})()"""

# Finds the addresses that lead nowhere. Each page is requested once, even if several of its anchors are named.
FOLLOW = """(async links => {
  const pages = new Map(), wrong = [];
  for (const link of links) {
    const address = new URL(link), anchor = decodeURIComponent(address.hash.slice(1));
    address.hash = '';
    if (!pages.has(address.href)) {
      const answer = await fetch(address.href).catch(() => ({ok: false}));
      const page = answer.ok && new DOMParser().parseFromString(await answer.text(), 'text/html');
      pages.set(address.href, page);
    }
    const page = pages.get(address.href);
    if (!page) wrong.push(link + ' leads nowhere');
    else if (anchor && !page.getElementById(anchor) && !page.getElementsByName(anchor).length)
      wrong.push(link + ' names an anchor that is not there');
  }
  return wrong;
})"""

SEARCH = """(async () => {
  document.querySelector('[data-md-toggle=search]').click();
  const field = document.querySelector('.md-search__input');
  field.focus();
  field.value = 'RONDO_ACL_LIBRARY';
  field.dispatchEvent(new Event('keyup'));
  field.dispatchEvent(new Event('input'));
  for (let tries = 0; tries < 200; ++tries) {
    const found = [...document.querySelectorAll('.md-search-result__link')].map(link => link.href);
    if (found.length) return found;
    await new Promise(done => setTimeout(done, 100));
  }
  return [];
})()"""


class Browser:
    """A Chromium that takes commands from one pipe and writes answers and events to another, each ended by a zero."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp()
        (their_in, self.to), (self.answers, their_out) = os.pipe(), os.pipe()
        # The browser expects the pipes as files 3 and 4.
        shell = f'exec "$@" 3<&{their_in} 4>&{their_out}'
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"]
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "bash", program, *options, f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=(their_in, their_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(their_in)
        os.close(their_out)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        # The pages keep the scheme of the first visit.
        self.call("Page.addScriptToEvaluateOnNewDocument", source="localStorage.clear()")

    def receive(self):
        while b"\0" not in self.rest:
            part = os.read(self.answers, 1 << 20)
            if not part:
                raise RuntimeError("the browser ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def open(self, address, scheme="light"):
        self.events.clear()
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def resize(self, width, height):
        """Gives the window a size, and waits until the page is drawn in it."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.run("""new Promise(requestAnimationFrame).then(() => {
          for (const each of document.getAnimations()) each.finish();
          return new Promise(requestAnimationFrame);
        }).then(() => true)""")

    def complaints(self):
        """Yields the faults since the page was opened."""
        for event in self.events:
            parameters = event.get("params", {})
            if event["method"] == "Network.requestWillBeSent":
                asked = parameters["request"]["url"]
                if not asked.startswith((self.home, "data:", "blob:")):
                    yield f"asks for {asked}"
            elif event["method"] == "Runtime.exceptionThrown":
                yield parameters["exceptionDetails"].get("exception", {}).get("description", "a script fails")
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                about = parameters["entry"].get("url", "")
                if not about.endswith("/favicon.ico"):  # which the browser asks for by itself
                    yield f"{parameters['entry']['text']} {about}"

    def take_picture(self, path):
        picture = self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(picture["data"]))

    def close(self):
        self.call("Browser.close")
        self.process.wait(timeout=30)
        shutil.rmtree(self.profile, ignore_errors=True)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def main():
    program = sys.argv[3] if len(sys.argv) > 3 else next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        sys.exit("browse.py: there is no Chromium")
    start = time.monotonic()
    PICTURES.mkdir(parents=True, exist_ok=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = Browser(program)
    browser.home = f"http://127.0.0.1:{server.server_port}/"

    guides = sorted(SITE.glob("*.html"))
    decisions = sorted(SITE.glob("decisions/*.html"))[-1:]
    pages = [*guides, *decisions, *(SITE / "reference" / name for name in REFERENCE)]
    faults, links = [], {}
    for path in pages:
        name = path.relative_to(SITE).as_posix()
        for scheme, windows in VIEWS.items():
            browser.open(browser.home + name, scheme)
            for view, size in windows.items():
                browser.resize(*size)
                looked = browser.run(LOOK)
                # The reference inverts its colours by a filter, which LOOK cannot see.
                found = [fault for fault in looked["faults"] if path.parent.name != "reference" or "contrast" not in fault]
                faults += [f"{name}, {view}: {fault}" for fault in found]
                browser.take_picture(PICTURES / f"{path.stem}_{view}.png")
            faults += [f"{name}, {scheme}: {fault}" for fault in browser.complaints()]
        if path in guides:
            for link in looked["links"]:
                links.setdefault(link, name)

    inside = sorted(link for link in links if link.startswith(browser.home))
    browser.open(browser.home + "index.html")
    browser.resize(*VIEWS["light"]["wide"])
    for wrong in browser.run(f"({FOLLOW})({json.dumps(inside)})"):
        faults.append(f"{links[wrong.split()[0]]}: {wrong.removeprefix(browser.home)}")
    found = browser.run(SEARCH)
    if not any("/onboard.html" in link for link in found):
        faults.append(f"the search for RONDO_ACL_LIBRARY finds {' '.join(found) or 'nothing'}")
    browser.take_picture(PICTURES / "search.png")
    browser.close()
    server.shutdown()
    print(*faults, sep="\n")
    print(f"{len(pages)} pages, {len(list(PICTURES.iterdir()))} pictures, {len(inside)} links followed, {len(faults)} faults, "
          f"{time.monotonic() - start:.0f} s")
    sys.exit(1 if faults or len(guides) < 30 or len(inside) < 300 else 0)


main()
