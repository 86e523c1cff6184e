// The rooms keep to the table of who may import whom.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importCycles, missingMentions, oversizedFolders, permissions, sourceTexts, violationsOf } from './layers.ts';

const root = join(import.meta.dirname, '../src');

describe('the layers', () => {
  it('let no room import what the table does not allow it', () => {
    const sources = sourceTexts(root, ['.']);
    expect(sources.flatMap(({ file, text }) => violationsOf(root, file, text))).toEqual([]);
    expect(sources.length).toBeGreaterThan(50);
  });

  it('notice a planted fault', () => {
    const faults: readonly [string, string][] = [
      ['core/guard/judge.ts', "import { Store } from '../../store/store.ts';"],
      ['core/time.ts', "import { readFileSync } from 'node:fs';"],
      ['account/act/actor.ts', "import { createNotifier } from '../../outbox/notifier.ts';"],
      ['alerts/engine.ts', "import { World } from '../world/world.ts';"],
      ['web/routes.ts', "const late = await import('../account/act/actor.ts');"],
      ['api/client.ts', "export * from '../alerts/engine.ts';"],
      ['unknown-room/file.ts', "import { World } from '../world/world.ts';"],
    ];
    for (const [file, text] of faults) expect(violationsOf(root, file, text), file).toHaveLength(1);
  });

  it('have a row for every room, and no row for a room that is not there', () => {
    const rooms = new Set(readdirSync(root).map((name) => name.replace(/\.(ts|js)$/, '')));
    rooms.delete('bin');
    expect(Object.keys(permissions).sort()).toEqual([...rooms].sort());
  });

  it('keep every folder small', () => {
    const sources = sourceTexts(join(root, '..'), ['src']);
    expect(oversizedFolders(sources)).toEqual([]);
    const planted = Array.from({ length: 36 }, (_, index) => ({
      file: `src/core/fleet/planted-${index}.ts`,
      text: '\n',
    }));
    const long = { file: 'src/api/planted.ts', text: '\n'.repeat(5_001) };
    expect(oversizedFolders([...planted, long])).toEqual([
      'core/fleet: 36 files, 36 lines',
      'api: 1 files, 5001 lines',
    ]);
  });
});

describe('docs/ARCHITECTURE.md', () => {
  const house = join(root, '..');
  const page = readFileSync(join(house, 'docs/ARCHITECTURE.md'), 'utf8');

  it('names files and functions that are there', () => {
    expect(missingMentions(page, house)).toEqual([]);
    expect([...page.matchAll(/`#?\w+\(\)`/g)].length).toBeGreaterThan(20);
  });

  it('is noticed when it names one that is not', () => {
    const planted =
      '`account/record/after-answer.ts` `afterAnswer()` calls `planAfter()`, then `record/tock.ts` `tock()`.';
    expect(missingMentions(planted, house)).toEqual([
      `planAfter() in ${join(root, 'account/record/after-answer.ts')}`,
      'record/tock.ts',
      'tock() in ',
    ]);
  });
});

describe('the files', () => {
  const sources = sourceTexts(join(root, '..'), ['src', 'tools', 'test']);

  it('import one another in no cycle', () => {
    expect(importCycles(sources)).toEqual([]);
    expect(sources.length).toBeGreaterThan(300);
  });

  it('of a planted cycle are named, one behind the other', () => {
    const planted = [
      { file: 'src/a/one.ts', text: "import type { Two } from './two.ts';\nimport { hono } from 'hono';" },
      { file: 'src/a/two.ts', text: "export * from '../b/three.ts';" },
      { file: 'src/b/three.ts', text: "const late = await import('../a/one.ts');" },
      { file: 'src/b/four.ts', text: "import { two } from '../a/two.ts';" },
      { file: 'src/b/itself.ts', text: "import { again } from './itself.ts';" },
    ];
    expect(importCycles(planted)).toEqual([
      'src/a/one.ts -> src/a/two.ts -> src/b/three.ts -> src/a/one.ts',
      'src/b/itself.ts -> src/b/itself.ts',
    ]);
  });
});

describe('the house rules', () => {
  const files = sourceTexts(root, ['.']);

  it('keep the time, chance and timers in world/world.ts', () => {
    const outside = /\bDate\.now\(|new Date\(\)|Math\.random\(|\bset(Timeout|Interval)\(|performance\.now\(/;
    // The browser's script lives in its reader's world.
    const own = ['world/world.ts', 'web/page/assets/scripts.ts'];
    const found = files.filter(({ file, text }) => !own.includes(file) && outside.test(text));
    expect(found.map(({ file }) => file)).toEqual([]);
  });

  it('say in the first line of every file what it is for', () => {
    expect(files.filter(({ text }) => !/^\/\/ .{20,}/.test(text)).map(({ file }) => file)).toEqual([]);
  });

  it('keep every file within a sitting', () => {
    expect(files.filter(({ text }) => text.split('\n').length > 500).map(({ file }) => file)).toEqual([]);
  });
});
