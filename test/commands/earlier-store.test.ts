// Between the installation of a new version and its first start: no command calls the store of the earlier version damaged.
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demoKey } from '../../src/simulator/keys.ts';
import { commandLine } from '../support/command-line.ts';
import { root, Workplace } from '../support/process.ts';

const stores = join(root, 'test/store/stores');
const reading = [
  ['status'],
  ['history'],
  ['explain', 'amelia.ward@northbeam.example'],
  ['silence', 'list'],
  ['store', 'stats'],
  ['store', 'check'],
  ['recipes', 'run', 'fleet-overview'],
  ['doctor'],
];

test.each(readdirSync(stores).filter((name) => name.endsWith('.db')))('%s', async (name) => {
  using workplace = new Workplace();
  mkdirSync(workplace.path('data'), { mode: 0o700 });
  copyFileSync(join(stores, name), workplace.path('data/warmwarden.db'));
  const account = { name: 'agency', base_url: 'http://127.0.0.1:9', api_key: demoKey };
  const file = workplace.configure({ accounts: [account], store: { url: 'sqlite:./data/warmwarden.db' } });
  for (const words of reading) {
    const { stdout, stderr } = await commandLine([...words, '--config', file]);
    expect(`${words.join(' ')}: ${stdout}${stderr}`).not.toMatch(/damaged|can't be used|no such/);
    expect(`${words.join(' ')}: ${stdout}${stderr}`).toMatch(/earlier version|@|silence/i);
  }
});
