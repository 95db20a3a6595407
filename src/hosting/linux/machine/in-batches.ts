/** Does `work` for all, at most `atOnce` side by side. Rejects with the first failure, once those under way have ended. */
export async function inBatches<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const waiting = items.values();
  const lines = Array.from({ length: Math.min(atOnce, items.length) }, async () => {
    for (const item of waiting) await work(item);
  });
  const results = await Promise.allSettled(lines);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
