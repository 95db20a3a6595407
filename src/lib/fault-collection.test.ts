import { describe, expect, it } from 'vitest';
import { Type } from '../api/schema.ts';
import { Forbidden, InvalidRequest, invalidValue } from './failures.ts';
import { FaultCollection } from './fault-collection.ts';

const schema = Type.Object({
  name: Type.String(),
  parts: Type.Array(Type.Object({ name: Type.String(), size: Type.Integer() })),
  place: Type.Unsafe<object | null>({
    type: ['object', 'null'],
    properties: { street: { type: 'string' }, city: { type: 'string' } },
  }),
});

const fault = (field: string) => invalidValue('Thing', field, 'unfit', `${field} is unfit`);

function refusal(faults: FaultCollection): InvalidRequest {
  try {
    faults.refuse();
  } catch (error) {
    if (error instanceof InvalidRequest) return error;
    throw error;
  }
  throw new Error('was not refused');
}

describe('FaultCollection', () => {
  it('tells all in the order of the fields, and above them what the first says', async () => {
    const faults = new FaultCollection(schema, fault('unknown').faults);
    for (const field of ['place.city', 'place.street', 'parts', 'parts.10.name', 'parts.2.size', 'name']) {
      await faults.from(() => {
        throw fault(field);
      });
    }
    await faults.from(() => Promise.reject(fault('name')), 'parts.2.');
    const refused = refusal(faults);
    expect(refused.faults.map(({ field }) => field)).toEqual([
      'name',
      'parts.2.name',
      'parts.2.size',
      'parts.10.name',
      'parts',
      'place.street',
      'place.city',
      'unknown',
    ]);
    expect(refused.message).toBe('name is unfit');
  });

  it('gives what a step gives, and lets pass whatever is no fault of a field', async () => {
    const faults = new FaultCollection(schema);
    expect(await faults.from(() => 7)).toBe(7);
    expect(
      await faults.from(() => Promise.reject(new Forbidden())).catch((error: unknown) => error),
    ).toBeInstanceOf(Forbidden);
    faults.refuse();
  });
});
