// Opens a YAML file as an editor does: `editor.mjs SERVER SCHEMA FILE` exits with 1 if the language server marks anything in it.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [program, schema, file] = process.argv.slice(2).map((path) => resolve(path));
const uri = pathToFileURL(file).href;
// Without the comment that names the schema, which may be elsewhere.
const text = readFileSync(file, 'utf8').replace(/^# yaml-language-server.*/, '#');
const yaml = { schemas: { [pathToFileURL(schema).href]: uri }, validate: true, schemaStore: { enable: false } };
const server = spawn(process.execPath, [program, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
const send = (message) => {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
};
const end = (code) => {
  server.kill();
  process.exit(code);
};
setTimeout(() => end(2), 60_000);

function meet({ id, method, params, result }) {
  if (id === 1 && result) {
    send({ method: 'initialized', params: {} });
    send({ method: 'workspace/didChangeConfiguration', params: { settings: { yaml } } });
    send({ method: 'textDocument/didOpen', params: { textDocument: { uri, languageId: 'yaml', version: 1, text } } });
  } else if (method === 'workspace/configuration') {
    send({ id, result: params.items.map(({ section }) => (section === 'yaml' ? yaml : null)) });
  } else if (id !== undefined && method) send({ id, result: null });
  else if (method === 'textDocument/publishDiagnostics') {
    for (const { range, message } of params.diagnostics)
      process.stdout.write(`${file}:${range.start.line + 1} ${message}\n`);
    end(params.diagnostics.length > 0 ? 1 : 0);
  }
}

let held = Buffer.alloc(0);
server.stdout.on('data', (chunk) => {
  held = Buffer.concat([held, chunk]);
  for (;;) {
    const [head, length] = /^Content-Length: (\d+)[\s\S]*?\r\n\r\n/.exec(held.toString('latin1')) ?? [];
    if (!head || held.length < head.length + Number(length)) return;
    const body = held.subarray(head.length, head.length + Number(length));
    held = held.subarray(head.length + Number(length));
    meet(JSON.parse(body.toString('utf8')));
  }
});
send({
  id: 1,
  method: 'initialize',
  params: { processId: process.pid, rootUri: null, capabilities: { workspace: { configuration: true } } },
});
