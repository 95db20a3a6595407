import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/page.tsx';

/** In the place of a list of which nothing is left. */
export function NothingMatches({ onClear }: { onClear(): void }) {
  return (
    <Empty>
      <p>Nothing matches.</p>
      <Button onClick={onClear}>Clear the filters</Button>
    </Empty>
  );
}
