import { ApiFailure, type ClientResult, FormError, unwrap, unwrapEmpty } from './failure.ts';
import { type Precondition, preconditionOf } from './precondition.ts';

/** How to take back a change of one resource. */
interface Reversal<Resource> {
  read(): Promise<ClientResult<Resource>>;
  /** Whether the resource still is as the change left it. */
  isAsSet(resource: Resource): boolean;
  /** Sends the former content, with these headers. */
  write(header: Precondition): Promise<ClientResult<unknown>>;
  /** Says that someone changed the resource again since. */
  refusal: string;
}

/** Takes back a change, unless someone changed the same again since. Throws FormError with the refusal then. */
export async function changeBack<Resource>({ read, isAsSet, write, refusal }: Reversal<Resource>) {
  const call = read();
  if (!isAsSet(await unwrap(call))) throw new FormError(refusal);
  try {
    await unwrapEmpty(write(preconditionOf((await call).response)));
  } catch (error) {
    throw error instanceof ApiFailure && error.status === 412 ? new FormError(refusal) : error;
  }
}
