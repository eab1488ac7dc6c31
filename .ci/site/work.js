// What the learner wrote, as JupyterLite keeps it in this browser: out into a file, and in again.
const DATABASE = "planexec-lite"; // contentsStorageName of jupyter-lite.json
const STORE = "files";
const said = document.getElementById("said");

function opened() {
  return new Promise((done, failed) => {
    const request = indexedDB.open(DATABASE);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
}

async function inStore(mode, work) {
  const database = await opened();
  try {
    return await new Promise((done, failed) => {
      if (!database.objectStoreNames.contains(STORE)) return done({});
      const transaction = database.transaction(STORE, mode);
      const result = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => done(result);
      transaction.onerror = () => failed(transaction.error);
    });
  } finally {
    database.close();
  }
}

function kept() {
  const files = {};
  return inStore("readonly", (store) => {
    store.openCursor().onsuccess = ({ target: { result: at } }) => {
      if (!at) return;
      files[at.key] = at.value;
      at.continue();
    };
    return files;
  });
}

document.getElementById("export").onclick = async () => {
  const files = await kept();
  const count = Object.keys(files).length;
  if (count) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify({ kit: "planexec-lite", files })], { type: "application/json" }));
    link.download = "planexec-lite-work.json";
    link.click();
    URL.revokeObjectURL(link.href);
  }
  said.textContent = count ? `${count} files exported.` : "Nothing is kept in this browser yet.";
};

document.getElementById("import").onchange = async ({ target }) => {
  try {
    const { kit, files } = JSON.parse(await target.files[0].text());
    if (kit !== "planexec-lite") throw new Error();
    await inStore("readwrite", (store) => Object.entries(files).forEach(([path, file]) => store.put(file, path)));
    said.textContent = `${Object.keys(files).length} files imported. Reload a lesson that is open.`;
  } catch {
    said.textContent = "That file is no exported work of this site; nothing was changed.";
  }
  target.value = "";
};
