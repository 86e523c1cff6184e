#!/usr/bin/env node
// Checks the Node version in plain old JavaScript, then starts the program: the sources where they are, else dist.
import { existsSync } from 'node:fs';

var needed = 24;
var major = Number(process.versions.node.split('.')[0]);

if (major < needed) {
  process.stderr.write(
    `warmwarden needs Node.js ${needed} or newer; this is ${process.versions.node} (${process.execPath}).\n` +
      'Install a newer Node.js from https://nodejs.org. In a checkout, `npm ci` brings one: use `npm start` or `npx warmwarden`.\n',
  );
  process.exitCode = 2;
} else {
  // node:sqlite and type stripping announce themselves as experimental on some versions; that is no news to the user.
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.stack}\n`);
  });
  const source = new URL('./main.ts', import.meta.url);
  const { main } = await import(existsSync(source) ? source.href : new URL('../dist/main.js', import.meta.url).href);
  await main(process.argv);
}
