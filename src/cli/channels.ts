// `warmwarden channels test|preview|resend`: tests a channel, shows what it would get, and resends messages whose delivery
// was given up.
import { randomUUID } from 'node:crypto';
import { Command, Option } from 'commander';
import { groupOf, messageOf } from '../alerts/grouping.ts';
import type { Channel, Notice, SendResult } from '../channels/channel.ts';
import { createChannel } from '../channels/channels.ts';
import { storedSecret } from '../channels/http.ts';
import { longestOf, pingOf } from '../channels/post.ts';
import { inOwnWords, sampleAlerts } from '../channels/template.ts';
import { alertRules } from '../core/alert-rules.ts';
import { pendingDelivery } from '../core/delivery.ts';
import { namesAre, notCalled } from '../core/nearest.ts';
import { secondMs } from '../core/time.ts';
import { sentence } from '../core/wording/explain.ts';
import { spanText } from '../core/wording/phrases.ts';
import { systemClock, type World, worldOn } from '../world/world.ts';
import { alertsOf } from './configuration.ts';
import { CommandError, exitFailed } from './errors.ts';
import { type ChangeOptions, operate, withChangeOptions } from './operations.ts';
import { type ConfigOptions, configOption, jsonOption, printJson } from './options.ts';

/** Longest part of a response body that is shown. */
const maxBodyShown = 200;

export function channelsCommand(): Command {
  const test = new Command('test')
    .description('send a test message or ping the heartbeat, and show the answer; a recipe is looked up, not started')
    .argument('<channel>', 'its name, or heartbeat')
    .addOption(configOption())
    .addOption(jsonOption())
    .action(tryOut);
  const preview = new Command('preview')
    .description('show what a channel would get for a rule, with example alerts; nothing is sent')
    .argument('<rule>', 'the alert rule')
    .addOption(new Option('--channel <name>', 'the channel').makeOptionMandatory())
    .addOption(configOption())
    .addOption(jsonOption())
    .action(show);
  const resend = withChangeOptions(new Command('resend'))
    .description('send undelivered messages again, unchanged, through the running daemon')
    .argument('[channel]', 'only the messages of this channel')
    .option('--delivery <id>', 'only the message with this id')
    .action((channel: string | undefined, options: ChangeOptions & { readonly delivery?: string }) => {
      const which = { channel: channel ?? null, delivery: options.delivery ?? null };
      return operate(options, 'channels-resend', which);
    });
  return new Command('channels')
    .description('test a channel, preview its messages, or send undelivered ones again')
    .addCommand(test)
    .addCommand(preview)
    .addCommand(resend);
}

/** Name of the heartbeat on the command line, unless a channel has it. */
const heartbeatArgument = 'heartbeat';

/** Needs no keys of accounts, so that a channel can be tried before they are there. */
async function tryOut(name: string, { config: file, json = false }: ConfigOptions): Promise<void> {
  const alerts = alertsOf(file);
  const world = worldOn(systemClock(), { level: 'silent', format: 'json' });
  const settings = alerts.channels.find((one) => one.name === name);
  const timeZone = () => alerts.rules.timeZone;
  const channel = settings && createChannel(settings, { world, pageUrl: null, publicUrl: null, timeZone });
  const heartbeat = name === heartbeatArgument ? alerts.heartbeat : null;
  const began = world.clock.monotonic();
  const asked = channel ? testOf(channel, world) : heartbeat && pingOf(heartbeat, world.clock);
  if (asked === null) throw unknownChannel(name, alerts.channels);
  const result = await asked;
  const tookMs = Math.round(world.clock.monotonic() - began);
  const address = settings ?? heartbeat;
  const host = address && 'url' in address && typeof address.url === 'string' ? hostOf(address.url) : '';
  const messages = [...saidOf(name, result, { took: spanText(tookMs), host }), ...bodyOf(result)];
  const good = result.kind === 'sent';
  if (!good) process.exitCode = exitFailed;
  const status = result.answer?.status ?? null;
  if (json)
    printJson('channels test', {
      channel: name,
      outcome: result.kind,
      status,
      took_seconds: tookMs / secondMs,
      messages,
    });
  else (good ? process.stdout : process.stderr).write(`${messages.join('\n')}\n`);
  await channel?.close?.();
}

/** Page of the example alerts. */
const examplePage = 'https://warmwarden.example';

/** Writes a message about each example alert of the rule. */
function show(
  rule: string,
  { config: file, channel: name, json = false }: ConfigOptions & { readonly channel: string },
): void {
  const { channels, templates, rules } = alertsOf(file);
  const settings = channels.find((one) => one.name === name);
  if (!settings) throw unknownChannel(name, channels);
  const samples = Object.entries(sampleAlerts()).find(([of]) => of === rule)?.[1];
  if (!samples)
    throw new CommandError('unknown_name', notCalled('rule', rule, alertRules, namesAre('rules', alertRules)));
  const world = worldOn(systemClock(), { level: 'silent', format: 'json' });
  const timeZone = () => rules.timeZone;
  const channel = createChannel(settings, { world, pageUrl: examplePage, publicUrl: examplePage, timeZone });
  const messages = samples.flatMap((sample) => {
    const alert = inOwnWords(sample, templates, rules.timeZone);
    const message = messageOf(groupOf(alert), [{ ...sample, alert }], sample.at);
    const rendered = message && channel.render(message);
    return rendered ? [{ title: rendered.title, body: shownBody(rendered.payload) }] : [];
  });
  if (json) return void printJson('channels preview', { channel: name, rule, messages });
  const texts = messages.map(({ title, body }) => `${title}\n\n${body}\n`);
  process.stdout.write(texts.length === 0 ? `${name} gets no message of ${rule}.\n` : texts.join('\n'));
}

/** JSON on several lines; any other text as it is. */
function shownBody(payload: string): string {
  const text = payload.replace(storedSecret, '[hidden]');
  return text.startsWith('{') || text.startsWith('[') ? JSON.stringify(JSON.parse(text), null, 2) : text;
}

function unknownChannel(name: string, channels: readonly { readonly name: string }[]): CommandError {
  if (name === heartbeatArgument)
    return new CommandError('unknown_name', 'No heartbeat is configured (alerts.heartbeat).');
  const names = channels.map((one) => one.name);
  return new CommandError('unknown_name', notCalled('channel', name, names, namesAre('channels', names)));
}

function testOf(channel: Channel, { clock }: World): Promise<SendResult> {
  const signal = AbortSignal.timeout(longestOf(channel));
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
  const message = { group: 'test', payload: rendered?.payload ?? '', title: notice.title, alerts: [] };
  const delivery = pendingDelivery({ id: `msg_test_${randomUUID()}`, channel: channel.name, ...message }, at);
  return channel.send(delivery, signal);
}

/** The host alone: the rest of an address may be a secret. */
function hostOf(url: string): string {
  return URL.canParse(url) ? ` (host ${new URL(url).host})` : '';
}

function saidOf(
  name: string,
  result: SendResult,
  { took, host }: { readonly took: string; readonly host: string },
): readonly string[] {
  const { answer } = result;
  const status = answer ? `: ${answer.protocol ?? 'HTTP'} ${answer.status}` : '';
  const outcome = result.kind === 'sent' ? 'succeeded' : 'failed';
  return [
    `The test of ${name === heartbeatArgument ? 'the ' : 'channel '}${name} ${outcome} after ${took}${status}.`,
    ...(result.detail ? [sentence(result.detail)] : []),
    ...(result.kind === 'sent' || answer ? [] : [`Check its address${host}, and whether this machine can reach it.`]),
  ];
}

/** Start of the response body, on one line. */
function bodyOf({ answer }: SendResult): readonly string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a receiver's answer must not move the terminal.
  const text = (answer?.text ?? '').replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  if (text === '') return [];
  return [`The answer: ${text.length > maxBodyShown ? `${text.slice(0, maxBodyShown)}…` : text}`];
}
