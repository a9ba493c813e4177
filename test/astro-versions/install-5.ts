import { install } from './install.ts';

export default () => install(5);
