// Prints the Node.js that a checkout runs on: the one that `npm ci` brought (package.json beside this file), else the one that runs this.
// It is plain JavaScript, for whatever Node.js the machine has, and finds the package by its name: not every npm links its program.
'use strict';
const { spawn, spawnSync } = require('node:child_process');
const { dirname, join } = require('node:path');
const { name, optionalDependencies } = require('./package.json');

/** The bundled Node.js, when it is installed and starts here. */
function bundledNode() {
  // npm links this folder into node_modules, or copies it there with what it depends on.
  const paths = [__dirname, join(__dirname, '../../node_modules', name)];
  for (const dependency of Object.keys(optionalDependencies)) {
    try {
      const manifest = require.resolve(`${dependency}/package.json`, { paths });
      const node = join(dirname(manifest), require(manifest).bin.node);
      if (spawnSync(node, ['--version']).status === 0) return node;
    } catch {
      // It is for another platform.
    }
  }
  return undefined;
}

/** Runs the program that this process was to run on the bundled Node.js; false where there is none. It passes signals on, and ends as it ends. */
function startBundled() {
  const node = bundledNode();
  if (node === undefined || node === process.execPath) return false;
  // The handlers come first: a signal just after the start would end this process alone.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  const child = spawn(node, process.argv.slice(1), {
    stdio: 'inherit',
    env: { ...process.env, WARMWARDEN_STOPS_WITH_PARENT: '1' },
  });
  // npm ends the shell of this process, which the child does not see.
  const { ppid } = process;
  const look = () => process.ppid !== ppid && child.kill();
  if (['npx', 'start'].includes(process.env.npm_lifecycle_event)) setInterval(look, 1_000);
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
  return true;
}

module.exports = { bundledNode, startBundled };
if (require.main === module) process.stdout.write(bundledNode() || process.execPath);
