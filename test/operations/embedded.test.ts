import { testOperations } from './cases.ts';
import { startEmbeddedPlatform } from './embedded.fixture.ts';

testOperations(() => startEmbeddedPlatform(), 'quick');
