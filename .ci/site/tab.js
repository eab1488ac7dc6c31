// Each page of JupyterLite loads this first: it shows how far the tab has loaded, says what a browser blocks, and leads home.
(() => {
  const STYLE = `
    #home, #loading, #blocked { position: fixed; z-index: 20; font: 13px system-ui, sans-serif; padding: 2px 8px; border-radius: 4px;
      color: var(--jp-ui-font-color1, #1f1f1f); background: var(--jp-layout-color1, white); }
    #home { right: 14px; bottom: 8px; color: var(--jp-content-link-color, #1565c0); }
    .lab #home { top: 3px; bottom: auto; }
    #loading { left: 50%; bottom: 24px; transform: translateX(-50%); width: min(330px, 90vw); box-sizing: border-box; padding: 12px 16px;
      box-shadow: 0 1px 8px #0006; pointer-events: none; }
    #loading progress { width: 100%; margin-top: 6px; accent-color: #007a5a; }
    #blocked { left: 0; right: 0; top: 0; z-index: 30; padding: 8px 14px; border-radius: 0; color: #1f1f1f; background: #ffe9a8; }`;
  const USUAL = 30; // files that a first start loads; the last start of this browser corrects it
  const QUIET = 1500; // milliseconds without a new file, after which an import has loaded
  const added = (id, html) => document.body.appendChild(Object.assign(document.createElement("div"), { id, innerHTML: html }));
  let files = 0, latest = "", ready = false, timer;

  function usual() {
    try {
      return Number(localStorage.getItem("planexec-files")) || USUAL;
    } catch {
      return USUAL;
    }
  }

  function show(text) {
    const shown = document.getElementById("loading");
    if (!shown) return;
    shown.hidden = false;
    shown.querySelector("span").textContent = text;
    const bar = shown.querySelector("progress");
    if (files && !ready) bar.value = Math.min(files / usual(), 0.98);
    else bar.removeAttribute("value");
  }

  function hide() {
    document.getElementById("loading")?.setAttribute("hidden", "");
  }

  /** A file was loaded: before the kernel is ready it counts, afterwards an import has asked for it. */
  function counted({ data: url }) {
    files += 1;
    latest = /([\w]+?)-\d[^/]*\.whl/.exec(url)?.[1] ?? "";
    if (!ready || !latest) return;
    show(`Loading ${latest} …`);
    clearTimeout(timer);
    timer = setTimeout(hide, QUIET);
  }

  /** Look at the kernel of the open notebook until it is idle. */
  function watch(tries = 0) {
    const session = window.jupyterapp?.shell?.currentWidget?.sessionContext;
    const status = session?.session?.kernel?.status;
    if (status === "idle" || (window.jupyterapp && !session && tries > 60)) {
      ready = true;
      hide();
      try {
        if (files > 10) localStorage.setItem("planexec-files", files);
      } catch {
        // the next bar is less exact
      }
      return;
    }
    show(`${window.jupyterapp ? "Starting Python" : "Loading Jupyter"}. The first time, this takes half a minute.`);
    setTimeout(() => watch(tries + 1), 250);
  }

  /** What this browser blocks, or nothing. */
  async function blocked() {
    try {
      await new Promise((done, failed) => {
        const request = indexedDB.open("planexec-probe");
        request.onsuccess = () => done(request.result.close());
        request.onerror = failed;
      });
    } catch {
      return "This browser blocks storage for this site: your work is lost when you close the tab. Allow storage for it, or leave private browsing.";
    }
    if (!navigator.serviceWorker) return "Your progress can't be kept here: open this site by https, or leave private browsing.";
    return "";
  }

  new BroadcastChannel("loaded").onmessage = counted;
  addEventListener("DOMContentLoaded", async () => {
    document.documentElement.classList.add(location.pathname.split("/").at(-2));
    document.head.appendChild(document.createElement("style")).textContent = STYLE;
    added("loading", '<span role="status"></span><progress aria-label="Loading"></progress>');
    added("home", '<a href="../../index.html" style="color: inherit">All lessons</a>');
    watch();
    const message = await blocked();
    if (message) added("blocked", "").textContent = message;
  });
})();
