// Every link on every view opens: what the page writes into an address is what it reads from one.
import { expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import type { Store } from '../../src/store/store.ts';
import { newStore } from '../support/new-folder.ts';
import { alert, exampleFleet, mailbox, now, verdict } from '../web/example-fleet.ts';
import { ask, serve } from '../web/running-server.ts';

/** So much of everything that each list has a further page. */
async function filledServer(store: Store) {
  const fleet = exampleFleet();
  for (let index = 0; index < 60; index += 1) {
    fleet.putMailbox(mailbox(`x%${index}`, `x"${index}@<acme>.example`));
    fleet.putAlert(alert({ rule: 'stale_data', object: `x${index}` }));
  }
  const ended = { ...alert({ rule: 'not_guarded' }), status: 'resolved' as const };
  const transitions = Array.from({ length: 60 }, () => ({ kind: 'resolved' as const, at: now, alert: ended }));
  await store.recordAlerts({ changed: [], dropped: [], transitions });
  const begin = { by: 'anna', reason: '', name: 'pause', command: 'pause', account: null, mailboxes: [] };
  for (let index = 0; index < 110; index += 1) await store.audit.beginCommand({ ...begin, at: now - index * minuteMs });
  const first = { firstSent: 0, firstDays: [], days: [], count: 1, verdict: verdict() };
  const entriesOf = async (_of: unknown, until: number) => {
    const decisions = Array.from({ length: 60 }, (_, index) => ({
      ...first,
      since: until - index,
      until: until - index,
    }));
    return { decisions, actions: [], changes: [] };
  };
  return serve(fleet, {
    history: store.audit,
    transitions: (limit, before) => store.outbox.recentTransitions(limit, before),
    entries: { entriesOf },
  });
}

/** Where a page leads on this server, without what prepares commands and what follows from these. */
function linksOf(body: string): readonly string[] {
  const all = [...body.matchAll(/ href="(\/[^"#]*)/g)].map(([, path = '']) => path.replaceAll('&amp;', '&'));
  return all.filter((path) => !/^\/(assets|events)|[?&]do=|refresh=off/.test(path));
}

test('every link on every view leads to something', async () => {
  await using server = await filledServer(await newStore(now));
  const known = new Set(['/']);
  /** One of each kind: a row of a table is like the others. */
  const kinds = new Set<string>();
  const broken: string[] = [];
  for (const path of known) {
    const { status, body } = await ask(server.url + path, { accept: 'text/html' });
    if (status !== 200) broken.push(`${status} ${path}`);
    for (const link of linksOf(body.toString())) {
      const kind = link.replace(/=[^&]*/g, '=').replace(/^\/(mailboxes|recipes)\/.*?(?=\?|$)/, '/$1');
      if (kinds.has(kind)) continue;
      kinds.add(kind);
      known.add(link);
    }
  }
  expect(broken).toEqual([]);
  expect([...kinds]).toEqual(
    expect.arrayContaining([
      ...['/?page=', '/alerts?severity=&rule=&page=', '/alerts?before=', '/activity?cursor=', '/mailboxes?until='],
    ]),
  );
});
