// The pieces of a page that change by themselves: each is sent again when it did, under the id of its element.
import { html } from 'hono/html';
import type { Markup } from './elements.ts';

export interface ListItem {
  /** Of its element, unique on the page. */
  readonly id: string;
  readonly markup: Markup;
}

/** What a live page consists of. Nothing in it belongs to one reader: all who look at the same address get the same. */
export class Regions {
  /** The markup of each piece, by the id of its outermost element. */
  readonly pieces = new Map<string, string>();
  /** The ids of a list's items in their order, by the id of the element around them. */
  readonly lists = new Map<string, readonly string[]>();

  /** A piece that changes as a whole. Its element has the id `live-` and this. */
  piece(id: string, inside: Markup | string): Markup {
    const markup = html`<div id="live-${id}">${inside}</div>`;
    this.pieces.set(`live-${id}`, String(markup));
    return markup;
  }

  /** Items whose elements have these ids, for between the tags of the element with the list's id. */
  list(id: string, items: readonly ListItem[]): readonly Markup[] {
    this.lists.set(
      id,
      items.map((item) => item.id),
    );
    for (const item of items) this.pieces.set(item.id, String(item.markup));
    return items.map(({ markup }) => markup);
  }
}

/** A page before it stands in its frame. */
export interface View {
  readonly title: string;
  readonly body: Markup | readonly Markup[];
  readonly regions: Regions;
  /** See LayoutParts. */
  readonly banner?: Markup;
  readonly hasReplicas?: boolean;
  readonly isStopped?: boolean;
  /** Whether it changes without a change of the fleet. */
  readonly isMoving?: boolean;
}
