// Answers a scrape: series of mailboxes from cached blocks (anew for a limited reader), of the fleet and the daemon anew.
import type { Context, Hono } from 'hono';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { Tally } from '../core/records.ts';
import { droppedLines, type World } from '../world/world.ts';
import { familyText } from './exposition.ts';
import { fleetFamilies, type MetricsSettings } from './fleet-series.ts';
import { MailboxBlocks } from './mailbox-blocks.ts';
import { createOwnMetrics } from './own-metrics.ts';
import { type Answer, answerOf, pieceOf, type ScrapeRequest } from './scrape-answer.ts';

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
  /** Series of the mailboxes of a part of the fleet, and no others. */
  exposeMailboxes(part: Fleet, request: ScrapeRequest): Promise<Answer>;
  configured(settings: MetricsSettings): void;
  /** The previous configuration stays in force. */
  configRefused(): void;
}

export function createMetrics({ fleet, version, world, settings }: MetricsParts): Metrics {
  const { clock, log } = world;
  let [inForce, settingsAt, isRefused] = [settings, clock.now(), false];
  const own = createOwnMetrics(fleet);
  const mailboxes = new MailboxBlocks(fleet, clock, settings);
  const scrapes = sharingRuns(() => mailboxes.render());
  return {
    tally: own.tally,
    async expose(request) {
      const { pieces, counts } = await scrapes();
      const daemon = { settings: inForce, settingsAt, isRefused, version, ready: request.ready };
      const families = fleetFamilies(fleet, counts, {
        ...daemon,
        linesDropped: droppedLines(log),
        now: clock.now(),
      });
      const texts = [...families, ...(await own.families())].map(familyText);
      return answerOf([...pieces, pieceOf(texts.join(''))], request.acceptEncoding);
    },
    async exposeMailboxes(part, { acceptEncoding }) {
      const { pieces } = await new MailboxBlocks(part, clock, inForce).render();
      return answerOf(pieces, acceptEncoding);
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

/**
 * `isReady`: current result of /readyz. `partOf`: part of the fleet that a request may see, or null for all of it. The
 * response sets its own encoding, so no middleware compresses it again.
 */
export function addMetrics(
  app: Hono,
  metrics: Metrics,
  { isReady, partOf }: { readonly isReady: () => boolean; readonly partOf: (c: Context) => Fleet | null },
): void {
  app.get('/metrics', async (c) => {
    const request = { acceptEncoding: c.req.header('accept-encoding'), ready: isReady() };
    const part = partOf(c);
    const { headers, body } = await (part ? metrics.exposeMailboxes(part, request) : metrics.expose(request));
    return c.req.method === 'HEAD' ? c.body(null, 200, headers) : c.body(body(), 200, headers);
  });
}

/** Runs of the returned function never overlap. Calls during a run share the next run. */
function sharingRuns<Result>(run: () => Promise<Result>): () => Promise<Result> {
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
