// A page with every alert of a fleet that fails at once: thousands of items that nobody reads. docs/faults.md O7.
import { expect, test } from 'vitest';
import { alert, exampleFleet, now } from '../web/example-fleet.ts';
import { ask, serve } from '../web/running-server.ts';

function troubledFleet() {
  const fleet = exampleFleet();
  for (const fired of [...fleet.alerts()]) fleet.removeAlert(fired.fingerprint);
  for (let index = 0; index < 2_000; index += 1) {
    const facts = { title: `<b>trouble ${index}</b>`, sentences: [], numbers: {} };
    fleet.putAlert(alert({ rule: 'stale_data', object: `box${index}`, since: now - index * 1_000, facts }));
  }
  const facts = { title: 'the gravest', sentences: [], numbers: {} };
  fleet.putAlert(alert({ rule: 'mailbox_unwell', severity: 'critical', since: 0, facts }));
  return fleet;
}

test('and /api/alerts answers with as many, up to 1,000 when asked, and the number of all', async () => {
  await using server = await serve(troubledFleet());
  const get = async (query: string) => {
    const { status, body } = await ask(`${server.url}/api/alerts${query}`);
    const { alerts = [], ...answer } = JSON.parse(body.toString());
    return { status, ...answer, shown: alerts.length, titles: alerts.map(({ title }: { title: string }) => title) };
  };
  const usual = await get('');
  expect([usual.shown, usual.total]).toEqual([100, 2_001]);
  expect(usual.titles.slice(0, 3)).toEqual(['the gravest', '<b>trouble 0</b>', '<b>trouble 1</b>']);
  expect(await get('?limit=1000')).toMatchObject({ shown: 1_000, total: 2_001, silences: [] });
  const { next_cursor: second } = await get('?limit=1000');
  const { next_cursor: third } = await get(`?limit=1000&cursor=${second}`);
  const last = await get(`?limit=1000&cursor=${third}`);
  expect(last).toMatchObject({ titles: ['<b>trouble 1999</b>'], total: 2_001, next_cursor: null });
  expect(await get('?severity=critical,info&status=firing')).toMatchObject({ titles: ['the gravest'], total: 1 });
  for (const query of ['?limit=1001', '?limit=0', '?limit=x', '?cursor=x', '?severity=grave', '?status=resolved'])
    expect(await get(query)).toMatchObject({ status: 400, error: 'bad_request' });
});

test('of 2,000 firing alerts of one rule the pages make one entry, which leads to all of them', async () => {
  await using server = await serve(troubledFleet());
  const read = async (path: string) => (await ask(server.url + path, { accept: 'text/html' })).body.toString();
  const namedIn = (body: string) => [...body.matchAll(/trouble (\d+)/g)].map(([, index]) => Number(index));
  for (const path of ['/', '/alerts']) {
    const body = await read(path);
    expect([path, namedIn(body)]).toEqual([path, [0, 1, 2]]);
    expect(body.indexOf('the gravest')).toBeLessThan(body.indexOf('trouble 0'));
    expect(body).toContain('>2,001</span>');
    expect(body).toMatch(/<a href="\/alerts\?severity=warning&(?:amp;)?rule=\w+">2,000 alerts: [a-z ]+<\/a>/);
    expect(body).toMatch(/>1,997 more are firing<\/a>/);
  }
  const [, rule = ''] = /rule=(\w+)">2,000 alerts/.exec(await read('/')) ?? [];
  const all = await read(`/alerts?severity=warning&rule=${rule}&page=2`);
  expect(namedIn(all)).toEqual(Array.from({ length: 50 }, (_, index) => index + 50));
  expect(all).toContain(`aria-label="Every rule, not only ${rule}"`);
});
