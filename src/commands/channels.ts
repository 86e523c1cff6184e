// `warmwarden channels test|resend`: tries a channel out, and sends once more what was given up.
import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import type { Delivery } from '../model/delivery.ts';
import type { Channel, Notice, SendResult } from '../notify/channel.ts';
import { createChannel } from '../notify/channels.ts';
import { sendDeadlineMs } from '../notify/sender.ts';
import { askDaemon } from '../operator/daemon-client.ts';
import { sentence } from '../wording/explain.ts';
import { spanText } from '../wording/phrases.ts';
import { systemClock, type World, worldOn } from '../world.ts';
import { type ChangeOptions, change, withChangeOptions } from './confirm.ts';
import { exitFailed, exitUsage } from './exit-codes.ts';
import { loadOrSay } from './loading.ts';

/** How much of an answer's body is shown. */
const maxBodyShown = 200;

interface TestOptions {
  readonly config: string;
  readonly json?: boolean;
}

interface ResendOptions extends ChangeOptions {
  readonly delivery?: string;
}

export function channelsCommand(): Command {
  const test = new Command('test')
    .description('send a test message through a channel, and say what came back; a recipe is looked up, not started')
    .argument('<name>', "the channel's name")
    .option('--config <file>', 'the configuration file', 'config.yaml')
    .option('--json', 'for programs')
    .action(tryOut);
  const resend = withChangeOptions(new Command('resend'))
    .description('send undelivered messages once more, as they were, through the running daemon')
    .argument('[name]', 'only of this channel')
    .option('--delivery <id>', 'only this one, as the page and /api/deliveries name it')
    .action((channel: string | undefined, options: ResendOptions) => {
      const which = { channel: channel ?? null, delivery: options.delivery ?? null };
      return change(options, (daemon, carried) => askDaemon(daemon, 'channels-resend', { ...carried, ...which }));
    });
  return new Command('channels')
    .description('test a channel, or send undelivered messages again')
    .addCommand(test)
    .addCommand(resend);
}

async function tryOut(name: string, { config: file, json = false }: TestOptions): Promise<void> {
  const loaded = loadOrSay(file);
  if (!loaded) return;
  const world = worldOn(systemClock(), { level: 'silent', format: 'json' });
  const { channels } = loaded.config.alerts;
  const settings = channels.find((one) => one.name === name);
  if (!settings) {
    process.stderr.write(`No channel is called ${name}: there are ${channels.map((one) => one.name).join(', ')}.\n`);
    process.exitCode = exitUsage;
    return;
  }
  const channel = createChannel(settings, { world, pageUrl: null });
  const began = world.clock.monotonic();
  const result = await testOf(channel, world);
  const tookMs = Math.round(world.clock.monotonic() - began);
  const said = [...saidOf(name, result, spanText(tookMs)), ...bodyOf(result)];
  const { kind: outcome, answer } = result;
  const lines = json
    ? [JSON.stringify({ channel: name, outcome, status: answer?.status ?? null, tookMs, said })]
    : said;
  const good = result.kind === 'sent';
  (good ? process.stdout : process.stderr).write(`${lines.join('\n')}\n`);
  if (!good) process.exitCode = exitFailed;
  await channel.close?.();
}

function testOf(channel: Channel, { clock }: World): Promise<SendResult> {
  const signal = AbortSignal.timeout(sendDeadlineMs);
  if (channel.check) return channel.check(signal);
  const at = clock.now();
  const line = 'If you can read this, alerts of Warmwarden reach you here.';
  const notice: Notice = {
    name: 'test',
    title: 'A test from Warmwarden',
    at,
    sections: [{ heading: '', lines: [line] }],
  };
  const rendered = channel.renderNotice(notice);
  const delivery: Delivery = {
    id: `msg_test_${randomUUID()}`,
    channel: channel.name,
    group: 'test',
    sequence: 0,
    payload: rendered?.payload ?? '',
    title: notice.title,
    state: 'pending',
    attempts: 0,
    createdAt: at,
    nextAttemptAt: at,
    settledAt: null,
    detail: null,
    alerts: [],
    begunAt: null,
    receipt: null,
  };
  return channel.send(delivery, signal);
}

function saidOf(name: string, result: SendResult, took: string): readonly string[] {
  const status = result.answer ? `: HTTP ${result.answer.status}` : '';
  const outcome = result.kind === 'sent' ? 'took it' : 'did not take it';
  return [`${name} ${outcome}${status} after ${took}.`, ...(result.detail ? [sentence(result.detail)] : [])];
}

/** The start of what came back, on one line. */
function bodyOf({ answer }: SendResult): readonly string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a receiver's answer must not move the terminal.
  const text = (answer?.text ?? '').replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  if (text === '') return [];
  return [`It said: ${text.length > maxBodyShown ? `${text.slice(0, maxBodyShown)}…` : text}`];
}
