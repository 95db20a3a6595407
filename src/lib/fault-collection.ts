import type { TSchema } from 'typebox';
import { type Fault, InvalidRequest } from './failures.ts';
import { byField } from './field-order.ts';

/**
 * Gathers what is wrong with a request over several steps, so that all of it is told at once, in the order of the fields
 * (gaps section 2).
 */
export class FaultCollection {
  readonly #schema: TSchema;
  readonly #faults: Fault[];

  /** `schema`: of the request's body. */
  constructor(schema: TSchema, found: readonly Fault[] = []) {
    this.#schema = schema;
    this.#faults = [...found];
  }

  add(fault: Fault): void {
    this.#faults.push(fault);
  }

  /**
   * What a step gives; undefined if it was refused with faults, which are kept, with `place` before their fields. Whatever else it
   * throws goes on.
   */
  async from<Result>(step: () => Result | Promise<Result>, place = ''): Promise<Result | undefined> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof InvalidRequest) || error.faults.length === 0) throw error;
      for (const fault of error.faults) this.add({ ...fault, field: place + fault.field });
      return undefined;
    }
  }

  /** Throws InvalidRequest with all of them, if there is any; its message is that of the first field's. */
  refuse(): void {
    const sorted = this.#faults.toSorted(byField(this.#schema));
    const [first] = sorted;
    if (first) throw new InvalidRequest(first.message, sorted);
  }
}
