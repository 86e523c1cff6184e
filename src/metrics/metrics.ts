// Answers a scrape: series of mailboxes from cached blocks, series of the fleet and of the daemon computed anew.
import type { Hono } from 'hono';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { Tally } from '../core/records.ts';
import { droppedLines, type World } from '../world/world.ts';
import { familyText } from './exposition.ts';
import { fleetFamilies, type MetricsSettings } from './fleet-series.ts';
import { MailboxBlocks } from './mailbox-blocks.ts';
import { createOwnMetrics } from './own-metrics.ts';
import { type Answer, answerOf, formatFor, pieceOf, type ScrapeRequest } from './scrape-answer.ts';

export interface MetricsParts {
  readonly fleet: Fleet;
  readonly version: string;
  readonly world: World;
  readonly settings: MetricsSettings;
}

export interface Metrics {
  readonly tally: Tally;
  /** Uses neither store nor network, and yields the event loop. Calls may overlap. */
  expose(request: ScrapeRequest): Promise<Answer>;
  configured(settings: MetricsSettings): void;
  /** The previous configuration stays in force. */
  configRefused(): void;
}

export function createMetrics({ fleet, version, world, settings }: MetricsParts): Metrics {
  const { clock, log } = world;
  let [inForce, settingsAt, isRefused] = [settings, clock.now(), false];
  const own = createOwnMetrics(fleet);
  const mailboxes = new MailboxBlocks(fleet, clock, settings);
  const scrapes = takingTurns(() => mailboxes.pieces());
  return {
    tally: own.tally,
    async expose({ accept, acceptEncoding, ready }) {
      const format = formatFor(accept);
      const blocks = await scrapes();
      const daemon = { settings: inForce, settingsAt, isRefused, version, ready };
      const families = fleetFamilies(fleet, mailboxes, {
        ...daemon,
        linesDropped: droppedLines(log),
        now: clock.now(),
      });
      const texts = [...families, ...(await own.families())].map((family) => familyText(family, format));
      const end = format === 'openmetrics' ? '# EOF\n' : '';
      return answerOf([...blocks, pieceOf(`${texts.join('')}${end}`)], format, acceptEncoding);
    },
    configured(changed) {
      [inForce, settingsAt, isRefused] = [changed, clock.now(), false];
      mailboxes.configured(changed);
    },
    configRefused() {
      isRefused = true;
    },
  };
}

/** `isReady`: current result of /readyz. The response sets its own encoding, so no middleware compresses it again. */
export function addMetrics(app: Hono, metrics: Metrics, isReady: () => boolean): void {
  app.get('/metrics', async (c) => {
    const [accept, acceptEncoding] = [c.req.header('accept'), c.req.header('accept-encoding')];
    const { headers, body } = await metrics.expose({ accept, acceptEncoding, ready: isReady() });
    return c.req.method === 'HEAD' ? c.body(null, 200, headers) : c.body(body(), 200, headers);
  });
}

/** Runs of the returned function never overlap. Calls during a run share the next run. */
function takingTurns<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | null = null;
  return () => {
    next ??= running.then(() => {
      next = null;
      const result = run();
      running = result.catch(() => {});
      return result;
    });
    return next;
  };
}
