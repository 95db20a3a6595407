/** Decides which logs are looked at: one without new messages waits twice as long each time, so thousands of quiet websites cost little. */
export interface QuietLogs {
  /** Whether this round looks at the install's log. */
  isDue(installId: string): boolean;
  /** Notes the outcome of a look. */
  looked(installId: string, hasNew: boolean): void;
  /** Ends a round, and forgets installs that are gone. */
  nextRound(installIds: ReadonlySet<string>): void;
}

/** Rounds that a quiet log waits at most. */
const LONGEST_WAIT = 6;

export function createQuietLogs(): QuietLogs {
  /** Of logs without new messages: the round of the next look, and the rounds before it. */
  const quiet = new Map<string, { round: number; wait: number }>();
  let present = 0;

  return {
    isDue: (installId) => (quiet.get(installId)?.round ?? 0) <= present,
    looked(installId, hasNew) {
      if (hasNew) quiet.delete(installId);
      else {
        const wait = Math.min((quiet.get(installId)?.wait ?? 0.5) * 2, LONGEST_WAIT);
        quiet.set(installId, { round: present + wait, wait });
      }
    },
    nextRound(installIds) {
      present++;
      for (const id of quiet.keys()) if (!installIds.has(id)) quiet.delete(id);
    },
  };
}
