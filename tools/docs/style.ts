// How long the sentences of Markdown pages are, and how many code blocks stand beside them.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { wordsIn } from './count.ts';

const longSentence = 30;

export interface Style {
  readonly sentences: number;
  /** Words of a sentence, on average. */
  readonly wordsASentence: number;
  /** Share of the sentences with more than 30 words, per cent. */
  readonly longPercent: number;
  /** Code blocks per 1,000 words of prose and tables. */
  readonly blocks: number;
}

/** Paragraphs and list items are prose: no front matter, code, heading, table, HTML or shortcode. */
export function styleOf(texts: readonly string[]): Style {
  const pages = texts.map((text) => text.replace(/^---\n[\s\S]*?\n---\n/, ''));
  const codeBlocks = pages.reduce((sum, page) => sum + (page.match(/^ *```/gm) ?? []).length / 2, 0);
  const plain = pages.map((page) => page.replace(/^ *```[\s\S]*?^ *```/gm, '\n').replace(/\{\{[\s\S]*?\}\}/g, ''));
  const sentences = plain.flatMap(sentencesIn);
  const long = sentences.filter((words) => words > longSentence).length;
  const words = plain.reduce((sum, page) => sum + wordsIn(page), 0);
  return {
    sentences: sentences.length,
    wordsASentence: sentences.reduce((sum, one) => sum + one, 0) / sentences.length,
    longPercent: (100 * long) / sentences.length,
    blocks: (1_000 * codeBlocks) / words,
  };
}

/** Number of words of each sentence with at least two words. */
function sentencesIn(page: string): readonly number[] {
  const isProse = (line: string) => !/^\s*(#|\||<|!\[|>?\s*$)/.test(line);
  const blocks = page
    .split('\n')
    .map((line) => (isProse(line) ? line.replace(/^\s*([-*+]|\d+\.)\s+/, '\n') : '\n'))
    .join('\n')
    .split(/\n{2,}/);
  return blocks
    .flatMap((block) => block.replace(/`[^`]*`/g, 'code').split(/(?<=[.!?:])["”)*]*\s+(?=[\p{Lu}\d"“(*[])/u))
    .map(wordsIn)
    .filter((words) => words > 1);
}

export function styleText(name: string, style: Style): string {
  const { sentences, wordsASentence, longPercent, blocks } = style;
  return `${name}: ${sentences} sentences of ${wordsASentence.toFixed(1)} words, ${longPercent.toFixed(1)}% over ${longSentence}; ${blocks.toFixed(1)} code blocks per 1,000 words`;
}

export function styleOfFolder(folder: string): Style {
  return styleOf(globSync('**/*.md', { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8')));
}
