// A page route: a path, and the function that makes the view of a request. A page opens from any link, so unknown and empty parameters are ignored.
import { oneOf, type Query, readQuery, type Shape } from '../query.ts';
import type { RefusalWord } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';
import type { Markup } from './parts/elements.ts';

export interface View {
  readonly title: string;
  readonly body: Markup;
  /** Links of the bar above the page, which only operators see. */
  readonly commands?: readonly Markup[];
  /** True if the page will change soon, without a change of the fleet. */
  readonly isMoving?: boolean;
}

export interface Refused {
  readonly refused: RefusalWord;
  readonly message: string;
}

export interface PageRequest {
  readonly names: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Returns the value of a form's hidden field, and ties the browser to it. */
  readonly formToken: () => string;
}

type Found = View | Refused;

export interface PageRoute {
  readonly path: string;
  readonly read: (parts: RouteParts, request: PageRequest) => Promise<Found>;
}

/** Parameters of every page. Live updates are on if `refresh` is absent. */
const ofEveryPage = { refresh: oneOf('off') };

export function pageAt<const S extends Shape>(
  path: string,
  parameters: S,
  viewOf: (parts: RouteParts, asked: Query<S>, request: PageRequest) => Found | Promise<Found>,
): PageRoute {
  return {
    path,
    read: async (parts, request) => {
      const given = new URLSearchParams([...request.query].filter(([, value]) => value.trim() !== ''));
      const asked = readQuery({ ...parameters, ...ofEveryPage }, given, { ignoreUnknown: true });
      return 'wrong' in asked ? { refused: 'bad_request', message: asked.wrong } : viewOf(parts, asked.read, request);
    },
  };
}
