// The Node.js that the checkout brings (tools/runtime) starts on a minimal machine.
import { execFileSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';

const bundled = execFileSync(process.execPath, [join(import.meta.dirname, '../tools/runtime/node.cjs')], {
  encoding: 'utf8',
});
const listSharedObjects =
  'process.report.excludeNetwork = true; console.log(JSON.stringify(process.report.getReport().sharedObjects))';

it.runIf(process.platform === 'linux')('loads only libraries that every Debian has: no libatomic', () => {
  const loaded: string[] = JSON.parse(execFileSync(bundled, ['-e', listSharedObjects], { encoding: 'utf8' }));
  const names = new Set(loaded.map((path) => basename(path).replace(/\.so\b.*/, '')));
  const everywhere = [
    'linux-vdso',
    'ld-linux-x86-64',
    'ld-linux-aarch64',
    'libc',
    'libm',
    'libdl',
    'libpthread',
    'libgcc_s',
    'libstdc++',
  ];
  expect(names).toContain('libc');
  expect([...names].filter((name) => !everywhere.includes(name))).toEqual([]);
});
