import { describe, expect, test } from 'vitest';
import { createSaga, type Step } from './saga.ts';

/** A step that records its calls. */
function recorded(seen: string[], name: string, failing: { act?: Error; undo?: Error } = {}): Step<string> {
  return {
    name,
    async act(subject) {
      seen.push(`${name} ${subject}`);
      if (failing.act) throw failing.act;
    },
    async undo(subject) {
      seen.push(`undo ${name} ${subject}`);
      if (failing.undo) throw failing.undo;
    },
  };
}

const quiet = { onUndoFailure: () => {} };

describe('a saga', () => {
  test('runs its stages in order', async () => {
    const seen: string[] = [];
    const saga = createSaga([[recorded(seen, 'a')], [recorded(seen, 'b'), recorded(seen, 'c')]], quiet);
    await saga.run('x');
    expect(seen).toEqual(['a x', 'b x', 'c x']);
  });

  test('undoes everything in reverse order if a step fails, and rejects with the cause', async () => {
    const seen: string[] = [];
    const stages = [
      [recorded(seen, 'a')],
      [recorded(seen, 'b', { act: new Error('no room') })],
      [recorded(seen, 'c')],
    ];
    await expect(createSaga(stages, quiet).run('x')).rejects.toThrow('no room');
    expect(seen).toEqual(['a x', 'b x', 'undo c x', 'undo b x', 'undo a x']);
  });

  test('waits for the concurrent steps before it undoes', async () => {
    const seen: string[] = [];
    const slow: Step<string> = {
      name: 'slow',
      async act() {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push('slow made');
      },
      async undo() {
        seen.push('slow undone');
      },
    };
    const saga = createSaga([[slow, recorded(seen, 'b', { act: new Error('no') })]], quiet);
    await expect(saga.run('x')).rejects.toThrow('no');
    expect(seen.indexOf('slow made')).toBeLessThan(seen.indexOf('slow undone'));
  });

  test('reports a failed undo with its step, and undoes the rest', async () => {
    const seen: string[] = [];
    const told: string[] = [];
    const stages = [
      [recorded(seen, 'a')],
      [recorded(seen, 'b', { undo: new Error('stuck') })],
      [recorded(seen, 'c', { act: new Error('first') })],
    ];
    const saga = createSaga(stages, {
      onUndoFailure: (_error, step, subject) => told.push(`${step} ${subject}`),
    });
    await expect(saga.run('x')).rejects.toThrow('first');
    expect(seen).toContain('undo a x');
    expect(told).toEqual(['b x']);
    await expect(saga.undo('y')).rejects.toThrow('stuck');
  });

  test('is undone if aborted', async () => {
    const seen: string[] = [];
    const ending = new AbortController();
    const saga = createSaga([[recorded(seen, 'a')], [recorded(seen, 'b')]], {
      ...quiet,
      reached: () => ending.abort(new Error('enough')),
    });
    await expect(saga.run('x', ending.signal)).rejects.toThrow('enough');
    expect(seen).toEqual(['a x', 'undo b x', 'undo a x']);
  });
});
