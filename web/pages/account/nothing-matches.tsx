import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/page.tsx';
import { focusFilter } from './focus-filter.ts';

/** The empty state of a filtered list. */
export function NothingMatches({ onClear }: { onClear(): void }) {
  return (
    <Empty>
      <p>No results.</p>
      <Button
        onClick={() => {
          focusFilter();
          onClear();
        }}
      >
        Clear filters
      </Button>
    </Empty>
  );
}
