import { quoted } from './quote.ts';

/** The log that nginx writes to. Its folder is open to root and nginx alone. */
export const USAGE_LOG = 'requests.log';

/** nginx writes many lines at once, at least every second. */
const BUFFERED = 'buffer=32k flush=1s';

/**
 * The format of a website's lines: a JSON array of install, end of the answer (seconds), bytes sent, address and user agent.
 * The format names the install, so that no request can. nginx escapes what a visitor sent.
 */
export function renderUsageFormat(installId: string): string {
  return `log_format ${formatOf(installId)} escape=json '["${installId}",$msec,$bytes_sent,"$remote_addr","$usage_agent"]';`;
}

export function renderUsageLog(installId: string, file: string): string {
  return `access_log ${quoted(file)} ${formatOf(installId)} ${BUFFERED};`;
}

function formatOf(installId: string): string {
  return `usage_${installId.replaceAll('-', '')}`;
}

/** One answered request. */
export interface UsageLine {
  installId: string;
  atMs: number;
  bytes: number;
  address: string;
  userAgent: string;
}

/** Null for any other text. */
export function parseUsageLine(line: string): UsageLine | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!Array.isArray(value) || value.length !== 5) return null;
  const [installId, seconds, bytes, address, userAgent]: unknown[] = value;
  if (typeof installId !== 'string' || typeof address !== 'string' || typeof userAgent !== 'string')
    return null;
  if (typeof seconds !== 'number' || typeof bytes !== 'number' || bytes < 0) return null;
  return { installId, atMs: Math.round(seconds * 1000), bytes, address, userAgent };
}
