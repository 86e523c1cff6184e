// The composition root: makes the rooms, introduces them to one another, and takes them down in reverse order.
import { explainVerdict } from './alert/wording.ts';
import type { AccountConfig, Config } from './config/config.ts';
import { policyOf, resolvePolicy, selects } from './config/mailbox-rules.ts';
import { Fleet } from './fleet/fleet.ts';
import { MailboxApi } from './mailbox-api/client.ts';
import { routes } from './model/answers.ts';
import { closedBreaker } from './model/breaker.ts';
import type { Hands } from './model/hand.ts';
import type { MailboxState } from './model/mailbox.ts';
import type { Ppm } from './model/policy.ts';
import { createChannels } from './notify/channels.ts';
import { createNotifier } from './notify/notifier.ts';
import { type HandsServer, startHands } from './serve/hands.ts';
import { createMetrics } from './serve/metrics.ts';
import { startServer } from './serve/server.ts';
import { Store } from './store/store.ts';
import { version } from './version.ts';
import { AccountWatch, type AccountWatchOptions } from './watch/account-watch.ts';
import { createHands } from './watch/hands.ts';
import type { RecorderRooms } from './watch/recorder.ts';
import { Turns } from './watch/turns.ts';
import { cronSchedule, systemClock, type World } from './world.ts';

export interface Daemon {
  /** Where the page and the metrics are; without a slash at the end. */
  readonly url: string;
  readonly fleet: Fleet;
  /** Ends everything, last started first. What was begun is in the store. */
  stop(): Promise<void>;
}

interface Teardown {
  readonly name: string;
  readonly stop: () => Promise<void>;
}

/** A part that does not end within this is left behind, with a line in the log. Real time: sockets are slow in it. */
const stopDeadlineMs = 12_000;

/** Starts the daemon. Rejects with one sentence when the store or the address can't be had; nothing is left running then. */
export async function startDaemon(config: Config, world: World): Promise<Daemon> {
  const teardowns: Teardown[] = [];
  const stop = () => takeDown(teardowns, world);
  try {
    const store = await Store.open(config.store.path, world.clock.now());
    teardowns.push({ name: 'store', stop: () => store.close() });
    const fleet = await loadFleet(store, config);
    const nearLimitPpmOf = (mailbox: MailboxState): Ppm => policyOfMailbox(config, mailbox).nearLimitPpm;
    const enforcing = (name: string) =>
      config.accounts.some((one) => one.name === name && policyOf(one.guard).enforce) &&
      fleet.writesAllowed(name, null, world.clock.now());
    const { mailboxLabel } = config.metrics;
    const metrics = createMetrics({
      fleet,
      version,
      clock: world.clock,
      settings: { nearLimitPpmOf, mailboxLabel, enforcing },
    });
    let watching = false;
    const server = await startServer({
      ...config.server,
      fleet,
      metrics,
      world,
      ready: () => ({ ready: watching, reasons: watching ? [] : ['the first sweep has not begun'] }),
      decisions: (account, id, limit) => store.decisionsOf(account, id, limit),
      deliveries: (limit) => store.recentDeliveries(limit),
      explain: explainVerdict,
      nearLimitPpmOf,
    });
    teardowns.push({ name: 'server', stop: () => server.close() });
    const { tally } = metrics;
    const channels = createChannels(config.alerts.channels, world.clock);
    const notifier = createNotifier({
      world,
      store,
      fleet,
      tally,
      channels,
      settings: config.alerts,
      pageUrl: server.url,
    });
    notifier.start();
    teardowns.push({ name: 'notifier', stop: () => notifier.stop() });
    const onTransitions = () => notifier.wake();
    const turns = new Turns();
    const rooms = { world, store, fleet, tally, turns, onTransitions };
    const watches = config.accounts.map((account) => watchAccount(account, config, server.url, rooms));
    for (const watch of watches) watch.start();
    const hands = await openHands(config.store.path, createHands(watches, { fleet, store, world }), world);
    if (hands) teardowns.push({ name: 'hands', stop: () => hands.close() });
    teardowns.push({
      name: 'accounts',
      stop: async () => void (await Promise.all(watches.map((watch) => watch.stop()))),
    });
    watching = true;
    return { url: server.url, fleet, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A daemon without hands still guards: the reason is said, and the rest goes on. */
async function openHands(storePath: string, hands: Hands, world: World): Promise<HandsServer | null> {
  try {
    return await startHands(storePath, hands);
  } catch (error) {
    world.log.warn(error instanceof Error ? error.message : String(error));
    return null;
  }
}

function watchAccount(account: AccountConfig, config: Config, pageUrl: string, rooms: RecorderRooms): AccountWatch {
  const client = { ...account, account: account.name, statsDays: statsDaysOf(account) };
  const api = new MailboxApi(client, rooms.world, rooms.tally);
  const schedules = Object.fromEntries(routes.map((route) => [route, cronSchedule(config.poll[route])]));
  return new AccountWatch(
    { ...rooms, api },
    {
      account: account.name,
      schedules: schedules as AccountWatchOptions['schedules'],
      policyFor: (mailbox) => resolvePolicy(account, mailbox),
      selects: (mailbox) => selects(account, mailbox),
      words: config.api.statusWords,
      pageUrl,
      api: account.baseUrl,
      accountsOfApi: config.accounts.filter((one) => one.baseUrl === account.baseUrl).map((one) => one.name),
    },
  );
}

/** POLICY.md asks for 30 days; a longer window of any of the account's policies needs more (the API gives up to 90). */
function statsDaysOf(account: AccountConfig): number {
  const windows = [account.guard, ...account.overrides.map((override) => override.guard)].map(
    (settings) => policyOf(settings).windowMaxDays,
  );
  return Math.min(Math.max(30, ...windows), 90);
}

/** The picture as the last process left it, without the accounts that the configuration no longer has. */
async function loadFleet(store: Store, config: Config): Promise<Fleet> {
  const fleet = new Fleet();
  const picture = await store.loadPicture();
  const apis = new Set(config.accounts.map((account) => account.baseUrl));
  const configured = new Set(config.accounts.map((account) => account.name));
  for (const mailbox of picture.mailboxes) if (configured.has(mailbox.account)) fleet.putMailbox(mailbox);
  for (const alert of picture.alerts) if (configured.has(alert.account)) fleet.putAlert(alert);
  for (const off of picture.writesOff) fleet.putWritesOff(off);
  for (const silence of picture.silences) fleet.putSilence(silence);
  for (const { baseUrl } of config.accounts) fleet.putBreaker(baseUrl, closedBreaker);
  for (const { api, state } of picture.breakers) if (apis.has(api)) fleet.putBreaker(api, state);
  for (const action of picture.actions) if (configured.has(action.account)) fleet.putAction(action);
  return fleet;
}

function policyOfMailbox(config: Config, mailbox: MailboxState) {
  const account = config.accounts.find((one) => one.name === mailbox.account);
  return account ? resolvePolicy(account, mailbox) : policyOf({});
}

async function takeDown(teardowns: Teardown[], world: World): Promise<void> {
  for (let part = teardowns.pop(); part; part = teardowns.pop()) {
    const waiting = new AbortController();
    const late = systemClock()
      .sleep(stopDeadlineMs, waiting.signal)
      .then(() => 'late');
    const ended = part.stop().then(
      () => 'ended',
      (error: unknown) => `failed: ${error instanceof Error ? error.message : String(error)}`,
    );
    const outcome = await Promise.race([ended, late]);
    waiting.abort();
    if (outcome !== 'ended') world.log.warn({ part: part.name, outcome }, 'a part did not stop as it should');
  }
}
