// Apache ECharts, the parts of it that are used.

import { CustomChart, LineChart } from "echarts/charts";
import {
  AriaComponent, BrushComponent, DataZoomComponent, GridComponent, LegendComponent, MarkAreaComponent,
  MarkLineComponent, TitleComponent, TooltipComponent,
} from "echarts/components";
import * as echarts from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

echarts.use([
  AriaComponent, BrushComponent, CustomChart, DataZoomComponent, GridComponent, LegendComponent, LineChart,
  MarkAreaComponent, MarkLineComponent, SVGRenderer, TitleComponent, TooltipComponent,
]);

export { echarts };
