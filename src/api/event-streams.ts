/** Type of an answer of server-sent events (HTML, section 9.2). */
export const EVENT_STREAM = 'text/event-stream';

/** Whether a client names server-sent events among what it accepts, as `EventSource` does. */
export function acceptsEvents({ accept }: { accept?: string | undefined }): boolean {
  return accept?.includes(EVENT_STREAM) === true;
}

/** Whether a request asks for a stream of events, which ends with its reader. */
export function asksForEvents({
  endpoint,
  headers,
}: {
  endpoint?: { contentType?: string | undefined; isFollowed?: boolean | undefined } | undefined;
  headers: { accept?: string | undefined };
}): boolean {
  return endpoint?.contentType === EVENT_STREAM || (endpoint?.isFollowed === true && acceptsEvents(headers));
}
