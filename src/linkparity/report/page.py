"""Words and looks of the audit report."""

EXPLAINED = {
    "dp": "Largest difference between two group pairs' mean scores. 0 is parity on this measure.",
    "eo": "The same among pairs that are true links. 0 is parity on this measure.",
    "rdp": "How well a rank gives away one group pair. 0.5 is parity of ranks, 1 the worst.",
    "auc": "How often a true link outranks another pair. 0.5 is chance, 1 perfect.",
    "kl": "KL-divergence to the nearest scores at parity. 0 is parity; there is no upper end.",
}
LIMITS = (
    "A gap near zero is parity on that measure, between these groups, on these pairs. It does not "
    "show that the scores are right, that they do no harm, or that other groups are at parity.",
    "Parity of mean scores can hold while individuals are treated very differently, and a gap can "
    "have causes outside the scores. The numbers say where to look, not why.",
    "Which pairs are in the table decides the result: if it holds only some candidates, or sampled "
    "non-links, the means are means over those.",
)
STYLE = """
:root{--ink:#14202e;--dim:#5b6b7d;--line:#dfe5ec;--paper:#fff;--soft:#f5f7fa;--blue:#183e70;
--band:#a9c3e6;--amber:#c8761a}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1080px;margin:0 auto;padding:36px 28px 60px}
header{border-bottom:3px solid var(--blue);padding-bottom:14px;margin-bottom:22px}
h1{font-size:27px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:19px;margin:34px 0 6px}
h3{font-size:13px;margin:0;font-weight:600;color:var(--dim)}
h3 code{display:block;color:var(--blue);font-weight:400}
header p,.dim,.under{color:var(--dim);margin:0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(186px,1fr));gap:14px}
article{border:1px solid var(--line);border-radius:8px;padding:14px 16px;background:var(--soft)}
article p{margin:4px 0 0;font-size:13.5px}
.big{font-size:30px!important;font-weight:650;letter-spacing:-.02em;line-height:1.2}
.big small{display:block;font-size:13px;font-weight:400;color:var(--dim);letter-spacing:0}
.big.none{font-size:20px!important;color:var(--dim);font-weight:500}
.maps{display:flex;flex-wrap:wrap;gap:12px 36px}
figure{margin:10px 0 0}figcaption{font-weight:600;font-size:14px;margin-bottom:6px}
svg{max-width:100%;height:auto;display:block}svg.range,svg.bars{display:inline-block}
.v{text-anchor:middle;font-variant-numeric:tabular-nums}.n{fill:var(--ink)}
.empty{fill:var(--soft)}.hatch{stroke:#b8c2cd;stroke-width:2}
.axis{stroke:#c5cfda}.band{fill:var(--band)}.dot{fill:var(--blue)}
.have{fill:#b3bec9;background:#b3bec9}.got{fill:var(--amber);background:var(--amber)}
.key{display:inline-block;width:12px;height:12px;border-radius:2px;vertical-align:-1px}
table{border-collapse:collapse;width:100%;margin-top:8px;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:6px 10px;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th:first-child,td:first-child{min-width:150px}svg.range,svg.bars{min-width:110px}
section{overflow-x:auto}
th{font-size:13px;color:var(--dim);font-weight:600}.r{text-align:right;white-space:nowrap}
.flag{font-size:12px;color:#7a4300;background:#fdebd3;border-radius:4px;padding:1px 6px}
.gate{border-radius:8px;padding:12px 16px;margin:0 0 18px;font-weight:600}
.gate ul{margin:4px 0 0;padding-left:20px;font-weight:400}
.pass{background:#e4f3e8;color:#155c2c}.fail{background:#fde7e4;color:#8a1c10}
li{margin:4px 0}code{font:13px ui-monospace,Menlo,Consolas,monospace}
footer{margin-top:36px;padding-top:12px;border-top:1px solid var(--line);color:var(--dim);
font-size:13px}
@media print{main{padding:0}article,section{break-inside:avoid}}
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,"><title>{title}</title><style>{style}</style></head>
<body><main><header><h1>{title}</h1><p>{counts} · {date}</p></header>
{body}
<footer>Made with linkparity. One file, no scripts, nothing is loaded from anywhere.</footer>
</main></body></html>
"""
