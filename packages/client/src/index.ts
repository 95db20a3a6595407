/**
 * A client of the Homeport API. Its types are generated from the description, so every endpoint, parameter and answer is known
 * to the compiler.
 */
export type { components, operations } from './api-types.ts';
export {
  type ClientOptions,
  createHomeportClient,
  type HomeportClient,
  type Started,
  type UntypedCall,
  type WaitOptions,
} from './client.ts';
export { ENDPOINTS } from './endpoints.ts';
export { type Fault, HomeportError, OperationFailed } from './errors.ts';
export type { RetryLimits, Surroundings } from './retries.ts';
export type { Answer, CallArguments, CallOptions, EndpointId, ItemOf, Operation, PagedId } from './types.ts';
