// Whether Slack would take a payload: the documented limits of an incoming webhook's body and of every block that we use.
// Sources: docs.slack.dev, "Reference: blocks" (header, section, context, actions, divider), "Block elements: button",
// "Formatting message text" (what must be escaped), "Reference: secondary attachments".

export type Fields = Readonly<Record<string, unknown>>;

const maxBlocks = 50;
const maxText = 40_000;
/** Not documented as one number; messages with more text in their blocks were refused (msg_blocks_too_long). */
const maxTextOfBlocks = 13_000;
const maxIdLetters = 255;
const maxButtons = 25;
const maxContextElements = 10;
const maxUrl = 3_000;

export function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  const { text } = fields(value);
  return typeof text === 'string' ? text : '';
}

/** What breaks a documented limit, in words; empty when nothing does. */
export function slackFaults(payload: unknown): readonly string[] {
  const { text, blocks, attachments } = fields(payload);
  const groups = [list(blocks), ...list(attachments).map((one) => list(fields(one)['blocks']))];
  const all = groups.flat();
  const said = all.flatMap((block) =>
    [block, ...list(fields(block)['elements'])].map((one) => textOf(fields(one)['text']) || textOf(one)),
  );
  const total = said.reduce((sum, one) => sum + one.length, 0);
  return [
    ...(typeof text === 'string' && text.length > 0 && text.length <= maxText
      ? []
      : ['no text for the notification, or too much']),
    ...(typeof text === 'string' && isEscaped(text) ? [] : ['unescaped text']),
    ...groups.flatMap((group) => (group.length > maxBlocks ? [`${group.length} blocks`] : [])),
    ...(total > maxTextOfBlocks ? [`${total} characters in all`] : []),
    ...list(attachments).flatMap((one) => (/^#[0-9a-f]{6}$/.test(String(fields(one)['color'])) ? [] : ['no colour'])),
    ...all.flatMap((block) => blockFaults(fields(block))),
  ];
}

function blockFaults(block: Fields): readonly string[] {
  switch (block['type']) {
    case 'header':
      return textFaults('header', block['text'], { type: 'plain_text', max: 150 });
    case 'section':
      return textFaults('section', block['text'], { type: 'mrkdwn', max: 3_000 });
    case 'context': {
      const elements = list(block['elements']);
      const count =
        elements.length === 0 || elements.length > maxContextElements ? [`context of ${elements.length}`] : [];
      return [...count, ...elements.flatMap((one) => textFaults('context', one, { type: 'mrkdwn', max: 3_000 }))];
    }
    case 'actions':
      return actionFaults(list(block['elements']).map(fields));
    case 'divider':
      return [];
    default:
      return [`unknown block ${String(block['type'])}`];
  }
}

function actionFaults(buttons: readonly Fields[]): readonly string[] {
  const ids = buttons.map((button) => String(button['action_id']));
  return [
    ...(buttons.length === 0 || buttons.length > maxButtons ? [`${buttons.length} buttons`] : []),
    ...(new Set(ids).size < ids.length ? ['two buttons with one action_id'] : []),
    ...ids.flatMap((id) => (id.length > maxIdLetters ? ['a long action_id'] : [])),
    ...buttons.flatMap((button) => {
      const url = String(button['url']);
      const link = /^https?:\/\/\S+$/.test(url) && url.length <= maxUrl ? [] : ['a button without a link'];
      return [...textFaults('button', button['text'], { type: 'plain_text', max: 75 }), ...link];
    }),
  ];
}

function textFaults(
  where: string,
  object: unknown,
  { type, max }: { readonly type: string; readonly max: number },
): readonly string[] {
  const text = textOf(object);
  const { type: is, verbatim } = fields(object);
  return [
    ...(is === type ? [] : [`${where} with ${String(is)}`]),
    ...(text.length > 0 && text.length <= max ? [] : [`${where} of ${text.length}`]),
    ...(isEscaped(text) ? [] : [`unescaped text in ${where}`]),
    ...(is === 'mrkdwn' && verbatim !== true ? ['a text that Slack would search for names'] : []),
  ];
}

/** Only our own links may begin with `<`, and `&` only our entities. */
function isEscaped(text: string): boolean {
  return !/<(?!https?:\/\/)|&(?!amp;|lt;|gt;)/.test(text) && text.isWellFormed();
}
