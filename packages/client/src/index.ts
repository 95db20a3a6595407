/**
 * A client of the Homeport API. Its types are generated from the description, so every endpoint, parameter and answer is known
 * to the compiler.
 */
import { type ClientOptions, createClient, type HomeportClient } from './client.ts';
import { ENDPOINTS } from './endpoints.ts';

/** Creates a client. It keeps no connection and no state, apart from those of `fetch`. */
export function createHomeportClient(options: ClientOptions): HomeportClient {
  const endpoints = new Map(Object.entries(ENDPOINTS));
  return createClient((id) => {
    const found = endpoints.get(id);
    if (found === undefined) throw new TypeError(`there is no endpoint ${id}`);
    return found;
  }, options);
}

export type { components, operations } from './api-types.ts';
export type { ClientOptions, HomeportClient, Started, UntypedCall, WaitOptions } from './client.ts';
export { type Fault, HomeportError, OperationFailed } from './errors.ts';
export type { RetryLimits, Surroundings } from './retries.ts';
export type { Answer, CallArguments, CallOptions, EndpointId, ItemOf, Operation, PagedId } from './types.ts';
export { ENDPOINTS };
