import {
  type Fault,
  Forbidden,
  NotFound,
  PreconditionFailed,
  RateLimited,
  UpstreamFailed,
} from '../lib/failures.ts';
import { type ErrorEnvelope, type ErrorStatus, UNEXPECTED } from './errors.ts';
import { faultExample } from './schema.ts';

/** Name, meaning and an example of each error in the document. */
export const DESCRIBED_ERRORS: Record<
  ErrorStatus,
  { name: string; description: string; example: ErrorEnvelope }
> = {
  400: {
    name: 'BadRequest',
    description: 'The request is invalid; `errors` lists every fault of the body',
    example: errorExample('Install name is required', [faultExample]),
  },
  401: {
    name: 'Unauthorized',
    description: 'Invalid or missing credentials',
    example: errorExample('Bad Credentials'),
  },
  403: {
    name: 'Forbidden',
    description: 'Insufficient permissions',
    example: errorExample(new Forbidden().message),
  },
  404: {
    name: 'NotFound',
    description: 'The resource does not exist, or you may not see it',
    example: errorExample(new NotFound().message),
  },
  409: {
    name: 'Conflict',
    description: 'The state of the resource does not allow the change',
    example: errorExample('The operation has already ended'),
  },
  412: {
    name: 'PreconditionFailed',
    description: 'The resource has changed',
    example: errorExample(new PreconditionFailed().message),
  },
  422: {
    name: 'UnprocessableContent',
    description: 'The request is well-formed, but cannot be carried out',
    example: errorExample('The destination is the account that owns the site'),
  },
  429: {
    name: 'TooManyRequests',
    description: 'Rate limit exceeded',
    example: errorExample(new RateLimited(1).message),
  },
  500: {
    name: 'InternalServerError',
    description: 'Internal server error',
    example: errorExample(UNEXPECTED[500]),
  },
  502: {
    name: 'BadGateway',
    description: 'A service that Homeport depends on failed',
    example: errorExample(new UpstreamFailed().message),
  },
  503: {
    name: 'ServiceUnavailable',
    description: 'Service temporarily unavailable',
    example: errorExample(UNEXPECTED[503]),
  },
};

function errorExample(message: string, errors?: Fault[]): ErrorEnvelope {
  return errors === undefined ? { message } : { message, errors };
}
