/** An entry of an install's log of kind `mail`. The writer adds the time. */
export interface MailLogEntry {
  /** UUID of the message; null if it was refused. */
  id: string | null;
  event: 'queued' | 'sent' | 'deferred' | 'failed' | 'refused';
  sender: string;
  /** The first {@link LOGGED_RECIPIENTS}. */
  recipients: string[];
  recipient_count: number;
  bytes: number | null;
  /** Answer of the relay, or why the message was refused. */
  reason: string | null;
}

/** Writes to the log of an install. Never rejects. */
export type AppendMailLog = (installId: string, entry: MailLogEntry) => void;

const LOGGED_RECIPIENTS = 20;

export function mailLogEntry(
  message: { id: string | null; sender: string; recipients: readonly string[]; bytes: number | null },
  event: MailLogEntry['event'],
  reason: string | null,
): MailLogEntry {
  const { id, sender, recipients, bytes } = message;
  return {
    id,
    event,
    sender,
    recipients: recipients.slice(0, LOGGED_RECIPIENTS),
    recipient_count: recipients.length,
    bytes,
    reason,
  };
}
