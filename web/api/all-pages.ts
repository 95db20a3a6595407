interface Page<Item> {
  count: number;
  results: Item[];
}

const PAGE = 100;
const AT_ONCE = 4;

/**
 * Loads every page of a list and returns its items in order. The first page gives the count; the rest load four at a
 * time.
 */
export async function allPages<Item>(
  load: (query: { limit: number; offset: number }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const first = await load({ limit: PAGE, offset: 0 });
  const offsets = Array.from({ length: Math.ceil(first.count / PAGE) - 1 }, (_, index) => (index + 1) * PAGE);
  const items = [...first.results];
  while (offsets.length > 0) {
    const pages = await Promise.all(
      offsets.splice(0, AT_ONCE).map((offset) => load({ limit: PAGE, offset })),
    );
    for (const page of pages) items.push(...page.results);
  }
  return items;
}
