import type { TSchema } from 'typebox';
import { type Fault, InvalidRequest } from './failures.ts';
import { byField } from './field-order.ts';

/** Collects the faults of a request over several steps and reports them together, in field order (docs/api.md, Errors). */
export class FaultCollection {
  readonly #schema: TSchema;
  readonly #faults: Fault[];

  /** `schema`: the schema of the request's body. */
  constructor(schema: TSchema, found: readonly Fault[] = []) {
    this.#schema = schema;
    this.#faults = [...found];
  }

  add(fault: Fault): void {
    this.#faults.push(fault);
  }

  /**
   * Returns the result of a step. If the step throws faults, collects them with `place` before their fields and returns undefined;
   * other errors propagate.
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

  /** Throws InvalidRequest with all faults, if any. The message is that of the first field. */
  refuse(): void {
    const sorted = this.#faults.toSorted(byField(this.#schema));
    const [first] = sorted;
    if (first) throw new InvalidRequest(first.message, sorted);
  }
}
