// What the doctor looked at, and what it found: one line of its report.

export const doctorParts = [
  'versions',
  'configuration',
  'permissions',
  'api',
  'budget',
  'clock',
  'store',
  'channels',
  'daemon',
] as const;
export type DoctorPart = (typeof doctorParts)[number];

/** skipped: it could not be looked at; the message says why. */
export const doctorResults = ['ok', 'warning', 'problem', 'skipped'] as const;
type DoctorResult = (typeof doctorResults)[number];

export interface Examined {
  readonly part: DoctorPart;
  readonly result: DoctorResult;
  /** Sentences: what is so and, unless it is fine, what to do. Without secrets once the report is made. */
  readonly message: string;
}

/** Makes the lines of a part. */
export function reporter(part: DoctorPart): (result: DoctorResult, message: string) => Examined {
  return (result, message) => ({ part, result, message });
}
