#!/usr/bin/env node
// Checks the Node version and the working directory in plain old JavaScript, then starts the program: the sources where they are, else dist.
import { existsSync } from 'node:fs';

// 24.15 brought the limits of SQLite that recipes run under; 25 is no LTS line.
var [major, minor] = process.versions.node.split('.').map(Number);
var newEnough = (major === 24 && minor >= 15) || major >= 26;
// A checkout may have the Node.js that `npm ci` brought.
var runtime = new URL('../tools/runtime/node.cjs', import.meta.url);

if (!newEnough && existsSync(runtime) && (await import(runtime.href)).default.startBundled()) {
  // It runs there.
} else if (!newEnough) {
  process.stderr.write(
    `warmwarden needs Node.js 24.15 or newer (but not 25); this is ${process.versions.node} (${process.execPath}).\n` +
      'Install a newer Node.js from https://nodejs.org. In a checkout, `npm ci` brings one: use `npm start` or `npx warmwarden`.\n',
  );
  process.exitCode = 2;
} else if (!isInFolder()) {
  process.stderr.write(
    'warmwarden: the current folder was removed. Change to another folder, and run the command again.\n',
  );
  process.exitCode = 2;
} else {
  // node:sqlite and type stripping announce themselves as experimental on some versions; that is no news to the user.
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.stack}\n`);
  });
  const source = new URL('./cli/main.ts', import.meta.url);
  const { main } = await import(
    existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href
  );
  await main(process.argv);
}

function isInFolder() {
  try {
    return Boolean(process.cwd());
  } catch {
    return false;
  }
}
