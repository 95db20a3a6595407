import type { IncomingMessage } from 'node:http';
import secureJson from 'secure-json-parse';
import { INVALID_PARAMETERS, InvalidRequest } from '../lib/failures.ts';

/** Limit of a request body. */
export const LARGEST_BODY_BYTES = 1024 * 1024;
/** Limit for requests without a session. They carry addresses, passwords, codes and tokens of links. */
export const LARGEST_BODY_OF_STRANGERS_BYTES = 16 * 1024;

/** Arrays and objects within each other. Serialising some thousands of them overflows the stack. */
const MOST_NESTED = 64;

/**
 * Bytes of a too large body that the server reads and drops. Many clients read the answer only after they have sent the
 * whole body. Closing the connection earlier would reset it, and the answer would be lost.
 */
const DRAINED_BYTES = 64 * 1024 * 1024;

/** Replaces an unreadable body, because the framework closes the connection if a body parser throws. */
export class UnreadableBody {
  readonly failure: InvalidRequest;
  constructor(failure: InvalidRequest) {
    this.failure = failure;
  }
}

/** Reads a request body like {@link readJsonBody}, but returns the failure. */
export async function readBodyOrFailure(...reading: Parameters<typeof readJsonBody>): Promise<unknown> {
  try {
    return await readJsonBody(...reading);
  } catch (error) {
    if (error instanceof InvalidRequest) return new UnreadableBody(error);
    throw error;
  }
}

/**
 * Reads a request body as JSON (RFC 8259); undefined for an empty body. Throws {@link InvalidRequest} for other content and
 * for more than `largest` bytes.
 */
export async function readJsonBody(
  contentType: string | undefined,
  payload: IncomingMessage,
  largest = LARGEST_BODY_BYTES,
): Promise<unknown> {
  const bytes = await readBytes(payload, largest);
  if (bytes.length === 0) return undefined;
  if (!isJson(contentType)) throw unreadable('content_type', 'Content-Type must be application/json');
  if (isEncoded(payload.headers['content-encoding'])) {
    throw unreadable('content_encoding', 'The body must not be compressed: send it without Content-Encoding');
  }
  if (!isUtf8(contentType)) throw unreadable('invalid_encoding', 'The charset of Content-Type must be UTF-8');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable('invalid_encoding', 'The body must be UTF-8');
  }
  if (isNestedDeeply(text)) {
    throw unreadable(
      'too_deep',
      `The body must have at most ${MOST_NESTED} arrays and objects within each other`,
    );
  }
  try {
    return secureJson.parse(text, null, { protoAction: 'remove', constructorAction: 'remove' });
  } catch {
    throw unreadable('invalid_json', 'The body must be valid JSON');
  }
}

/** Whether a JSON text nests arrays and objects too deeply. Brackets within strings do not count. */
function isNestedDeeply(text: string): boolean {
  // Each level needs a bracket at both ends.
  if (text.length <= 2 * MOST_NESTED) return false;
  let depth = 0;
  let isString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isString) {
      if (character === '\\') index += 1;
      else if (character === '"') isString = false;
    } else if (character === '"') {
      isString = true;
    } else if (character === '[' || character === '{') {
      depth += 1;
      if (depth > MOST_NESTED) return true;
    } else if (character === ']' || character === '}') {
      depth -= 1;
    }
  }
  return false;
}

function readBytes(payload: IncomingMessage, largest: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    payload.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= largest) {
        chunks.push(chunk);
        return;
      }
      if (size > largest + DRAINED_BYTES) {
        payload.destroy();
        return;
      }
      chunks.length = 0;
      reject(unreadable('too_large', `The body must be at most ${largest / 1024} KiB`));
    });
    payload.once('end', () => resolve(Buffer.concat(chunks)));
    payload.once('error', () => reject(unreadable('cut_short', 'The body was cut short')));
  });
}

function isJson(contentType: string | undefined): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type);
}

/** `identity` means that nothing was encoded (RFC 9110 section 8.4). */
const isEncoded = (encoding: string | undefined): boolean =>
  encoding !== undefined && !/^\s*(identity\s*)?$/i.test(encoding);

/** JSON has no charset (RFC 8259 section 11), but clients send one, and another than UTF-8 would be read wrongly. */
function isUtf8(contentType = ''): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType)?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}

/** The failure of a PATCH without a body. */
export function missingBody(): InvalidRequest {
  return unreadable('required', 'The body must be a JSON object with the fields to change');
}

function unreadable(code: string, message: string): InvalidRequest {
  return new InvalidRequest(INVALID_PARAMETERS, [
    { resource: 'Request', field: 'body', type: 'invalid_value', code, message },
  ]);
}
