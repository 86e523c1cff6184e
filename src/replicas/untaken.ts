// Work that no replica has, and that this one can't take although the database answers.
export class UntakenError extends Error {
  /** What a person does about it, in whole sentences. */
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}
