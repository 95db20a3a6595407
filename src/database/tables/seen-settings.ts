/** The settings of a subject when a process last started, so that a change ends the failures that they caused. */
export interface SeenSettingsRow {
  name: string;
  /** SHA-256, hex. */
  fingerprint: string;
  seen_at: string;
}
