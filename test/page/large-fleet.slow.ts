import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { hourMs } from '../../src/core/time.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { troublesOf } from '../support/page-troubles.ts';
import { account, alert, mailbox, now } from '../web/example-fleet.ts';
import { ask, serve } from '../web/running-server.ts';

const mailboxes = 10_000;
const accounts = 200;
const firing = 1_000;
const maxPageBytes = 150 * 1024;

const domainOf = (index: number) => `domain${index % 500}-of-a-client.example`;
const emailOf = (index: number) => `box${index}@${domainOf(index)}`;
const accountOf = (index: number) => `client-${index % accounts}`;

function box(index: number, changes: Parameters<typeof mailbox>[2] = {}) {
  return mailbox(`m${index}`, emailOf(index), { account: accountOf(index), ...changes });
}

function largeFleet(): Fleet {
  const fleet = new Fleet();
  for (let index = 0; index < accounts; index += 1) fleet.putAccount(account(accountOf(index)));
  for (let index = 0; index < mailboxes; index += 1) fleet.putMailbox(box(index));
  for (let index = 0; index < firing; index += 1) {
    const about = { mailboxId: `m${index}`, email: emailOf(index), account: accountOf(index) };
    const facts = { title: `${emailOf(index)}: DKIM does not pass`, sentences: ['It has no record.'], numbers: {} };
    fleet.putAlert(alert({ rule: 'dns_failing', severity: 'critical', ...about, facts }));
  }
  for (let index = 0; index < 50; index += 1) {
    const match = { domain: [domainOf(index)] };
    fleet.putSilence({ id: `s${index}`, match, by: 'anna', reason: 'moving', from: now - hourMs, until: now + hourMs });
  }
  return fleet;
}

const tagsOf = ({ id }: { readonly id: string }) => [`tag${Number(id.slice(1)) % 300}`];
const serveLarge = (fleet: Fleet) =>
  serve(fleet, {
    tags: { all: () => Array.from({ length: 300 }, (_, index) => `tag${index}`), of: tagsOf },
    settings: () =>
      Array.from({ length: 5_000 }, (_, index) => ({
        name: `overrides[${index}].mode`,
        value: 'slow',
        from: 'line 7',
      })),
  });

const paths = [
  ...['/', '/?sort=rate&page=7', '/?q=box77', '/?account=client-7', '/groups', '/groups?by=domain', '/groups?by=tag'],
  ...[
    '/alerts',
    '/alerts?page=20',
    '/activity',
    '/silences',
    '/budget',
    '/budget?page=5',
    '/recipes',
    '/configuration',
  ],
  ...['/runbooks', '/mailboxes/client-0/m0', '/mailboxes/client-7/m207'],
];

/** Views that are another page with 10,000 mailboxes than with ten. */
const looked = ['/', '/groups?by=domain', '/alerts', '/silences', '/budget', '/mailboxes/client-0/m0'];

test.skipIf(!hasBrowser())(
  'every view of 10,000 mailboxes opens, is small, and has nothing that axe-core finds',
  async () => {
    await using server = await serveLarge(largeFleet());
    const sizes = await Promise.all(
      paths.map(async (path) => [path, (await ask(server.url + path, { accept: 'text/html' })).body.length] as const),
    );
    expect(sizes.filter(([, bytes]) => bytes > maxPageBytes)).toEqual([]);
    await using browser = await openBrowser();
    const wide = await troublesOf(browser, server.url, { paths: looked, width: 1200, colorScheme: 'light' });
    const narrow = await troublesOf(browser, server.url, {
      paths: looked,
      width: 360,
      colorScheme: 'dark',
      withoutAxe: true,
    });
    expect([...wide, ...narrow]).toEqual([]);
  },
);
