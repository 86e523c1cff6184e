// A process that sends what a store has, and is killed with -9 at a step.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ChannelSettings } from '../../src/channels/channels.ts';
import type { Alert } from '../../src/core/alert.ts';
import { Store } from '../../src/store/store.ts';
import { firing, sampleAlert } from '../alerts/samples.ts';
import { newFolder } from '../support/new-folder.ts';
import { node } from '../support/process.ts';

const script = join(import.meta.dirname, 'sending-process.ts');
/** No step has this name. */
export const never = '';
/** A send has more steps than this. */
export const leastSteps = 10;

export interface Sent {
  readonly killed: boolean;
  /** The steps that were reached, in order. */
  readonly steps: readonly string[];
}

export async function sendFrom(path: string, channel: ChannelSettings, killAt: string, night = ''): Promise<Sent> {
  const child = spawn(node, [script, path, JSON.stringify(channel), killAt, night]);
  const [out, err, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (signal !== 'SIGKILL' && code !== 0) throw new Error(`it ended with ${code}:\n${err}`);
  return { killed: signal === 'SIGKILL', steps: out.trim().split('\n') };
}

/** A store with one alert that nobody was told of. */
export async function untoldAlert(change: Partial<Alert> = {}): Promise<string> {
  const path = join(newFolder(), 'warmwarden.db');
  const now = Date.now();
  const alert = sampleAlert(1, { firingAt: now, since: now, ...change });
  const store = await Store.open(path, now);
  await store.recordAlerts({ changed: [alert], dropped: [], transitions: [firing(alert, now)] });
  await store.close();
  return path;
}

/** The receiver said yes, and it was not written down yet. */
export const lost = ['after channel.send 1', 'before store.settleDelivery 1'];
