/**
 * Options of an `LRUCache` that keeps up to `entries` entries and grows as they are added. Its option `max` allocates the room for all
 * of them at once: 3 MB and 10 ms for 100,000.
 */
export function entryLimit(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
