// Work that no replica has, and that this one can't take although the database answers.
export class UntakenError extends Error {
  /** In a few words. */
  readonly title: string;
  /** What a person does about it, in whole sentences. */
  readonly remedy: string;

  constructor({ title, said, remedy }: { readonly title: string; readonly said: string; readonly remedy: string }) {
    super(said);
    this.title = title;
    this.remedy = remedy;
  }
}
