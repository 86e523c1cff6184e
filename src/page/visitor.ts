// Who looks at a page, as far as the page shows it.

/** The hidden field that proves which browser a form was made for. */
export const formTokenField = 'form_token';

export interface Visitor {
  /** The name of the token; null where there are no tokens. */
  readonly name: string | null;
  /** Whether the page offers commands. */
  readonly mayOperate: boolean;
  /** Of a browser that signed in: what its forms carry. null: there is nothing to sign out of. */
  readonly signOutToken: string | null;
}
