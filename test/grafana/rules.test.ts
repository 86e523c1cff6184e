// Prometheus' own checker on the rules, their unit tests, and the metrics of a live daemon's kind.
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isInstalled } from '../support/debian.ts';
import { folderOfFile } from '../support/new-folder.ts';
import { folder, ruleFiles, rules, ruleText } from './boards.ts';

const source = join(folder, 'prometheus');
const copy = folderOfFile();
cpSync(source, copy, { recursive: true });
const tests = readdirSync(join(source, 'tests')).map((file) => join('tests', file));

function promtool(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: copy, encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

describe.skipIf(!isInstalled('promtool'))('promtool', () => {
  test('accepts the rules and the configuration', () => {
    const { status, said } = promtool('check', 'rules', ...ruleFiles);
    expect([status, said.match(/SUCCESS: \d+ rules/g)?.length]).toEqual([0, 3]);
    expect(promtool('check', 'config', 'prometheus.yaml')).toMatchObject({ status: 0 });
  });

  test('finds that every alert fires when it should, and not before', () => {
    expect(promtool('test', 'rules', ...tests)).toMatchObject({ status: 0 });
    const tested = tests.map((file) => readFileSync(join(source, file), 'utf8')).join('\n');
    for (const file of ruleFiles) {
      for (const { alert, record } of rules(file)) expect(tested, alert ?? record).toContain(alert ?? record);
    }
  });

  test('would find a rule that fires too late', () => {
    const changed = ruleText('alerts.yaml').replace('for: 5m', 'for: 50m');
    writeFileSync(join(copy, 'alerts.yaml'), changed);
    const { status, said } = promtool('test', 'rules', 'tests/alerts.yaml');
    cpSync(source, copy, { recursive: true });
    expect([status, said.includes('WarmwardenDown')]).toEqual([1, true]);
  });
});
