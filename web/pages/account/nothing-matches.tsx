import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/page.tsx';
import { focusFilter } from './focus-filter.ts';

/** In the place of a list of which nothing is left. */
export function NothingMatches({ onClear }: { onClear(): void }) {
  return (
    <Empty>
      <p>Nothing matches.</p>
      <Button
        onClick={() => {
          focusFilter();
          onClear();
        }}
      >
        Clear the filters
      </Button>
    </Empty>
  );
}
