// A message as a delivery for one channel: rendered, and named so that it is the same however often it is made.
import { createHash } from 'node:crypto';
import type { GroupMessage } from '../alert/grouping.ts';
import { isPause, pauseFingerprint } from '../alert/pauses.ts';
import { eachInPieces, mapInPieces } from '../alert/pieces.ts';
import type { Channel, Rendered } from '../channels/channel.ts';
import { markOf } from '../model/alert-marks.ts';
import type { NewDelivery } from '../model/delivery.ts';
import type { Log } from '../world.ts';

/** A message about more alerts than this keeps numbers instead of their names. */
const mostNamed = 100;

interface Composing {
  /** Called between pieces of a storm's message: lets others have a turn. */
  readonly pause: () => Promise<void>;
  readonly log: Log;
}

/** null: the channel has nothing to say of it, or can't write it down, which the log says. */
export async function deliveryOf(
  channel: Channel,
  message: GroupMessage,
  { pause, log }: Composing,
): Promise<NewDelivery | null> {
  const rendered = rendering(channel, message, log);
  if (!rendered) return null;
  await pause();
  const { group, transitions, at, incident } = message;
  const { payload, title } = rendered;
  // Piece by piece: in one text they would be megabytes.
  const steps = createHash('sha256');
  const named = createHash('sha256');
  await eachInPieces(transitions, pause, ({ kind, at: of, alert }) => {
    steps.update(`${kind} ${of} ${alert.fingerprint},`);
    named.update(`${alert.fingerprint},`);
  });
  const id = deliveryId([channel.name, group, String(at), steps.digest('base64url'), payload]);
  await pause();
  const fingerprints: string[] = [];
  await eachInPieces(transitions, pause, (one) => {
    fingerprints.push(one.alert.fingerprint);
    // The end of a pause waits behind the pause.
    if (isPause(one)) fingerprints.push(pauseFingerprint(one.alert));
  });
  const reminds = transitions.length > 0 && transitions.every(({ kind }) => kind === 'reminder');
  const first = [
    ...(reminds ? [`${reminderPrefix}${named.digest('base64url')}`] : []),
    // What is said of an incident keeps its order, whatever else is said with it.
    ...(incident ? [`incident|${incident.id}`] : []),
  ];
  const made = { id, channel: channel.name, group, payload, title };
  if (fingerprints.length <= mostNamed) return { ...made, alerts: [...first, ...fingerprints] };
  const marks = Float64Array.from(await mapInPieces(fingerprints, pause, markOf));
  return { ...made, alerts: first, marks: marks.sort() };
}

/** A channel that can't write a message down must not keep the others from getting theirs. */
function rendering(channel: Channel, message: GroupMessage, log: Log): Rendered | null {
  try {
    return channel.render(message);
  } catch (error) {
    const { group } = message;
    log.error({ channel: channel.name, group, err: error }, 'A message could not be composed and is undelivered.');
    return null;
  }
}

const reminderPrefix = 'reminder|';

/** Among the alerts of a message that only reminds people of them, what is the same for the same alerts; undefined for any other. */
export function reminderAmong(alerts: readonly string[]): string | undefined {
  return alerts[0]?.startsWith(reminderPrefix) ? alerts[0] : undefined;
}

/** The same for the same message however often it is made, and no other's: also of two installations with one receiver. */
export function deliveryId(parts: readonly string[]): string {
  return `msg_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}`;
}
