"""Well-known places in Chinese and in English, for a talk in one and a memory in the other."""

from typing import Final

_TABLE: Final = """
北京 beijing peking 帝都 京城|上海 shanghai 魔都
广州 guangzhou canton 羊城|深圳 shenzhen|杭州 hangzhou|南京 nanjing|成都 chengdu
重庆 chongqing|武汉 wuhan|西安 xian xi'an|苏州 suzhou|天津 tianjin|青岛 qingdao tsingtao
大连 dalian|厦门 xiamen|长沙 changsha|郑州 zhengzhou|沈阳 shenyang|哈尔滨 harbin|昆明 kunming
济南 jinan|合肥 hefei|福州 fuzhou|宁波 ningbo|无锡 wuxi|佛山 foshan|东莞 dongguan|珠海 zhuhai
海口 haikou|三亚 sanya|贵阳 guiyang|南宁 nanning|桂林 guilin|兰州 lanzhou|太原 taiyuan
石家庄 shijiazhuang|长春 changchun|南昌 nanchang|温州 wenzhou|拉萨 lhasa|丽江 lijiang
大理 dali|洛阳 luoyang|绍兴 shaoxing|烟台 yantai|威海 weihai|乌鲁木齐 urumqi|银川 yinchuan
西宁 xining|呼和浩特 hohhot|香港 hongkong hong hk|澳门 macau macao|台北 taipei|高雄 kaohsiung
台湾 taiwan|四川 sichuan|云南 yunnan|广东 guangdong|广西 guangxi|浙江 zhejiang|江苏 jiangsu
湖南 hunan|湖北 hubei|河南 henan|河北 hebei|山东 shandong|山西 shanxi|陕西 shaanxi|福建 fujian
江西 jiangxi|安徽 anhui|贵州 guizhou|海南 hainan|甘肃 gansu|辽宁 liaoning|吉林 jilin
黑龙江 heilongjiang|内蒙古 mongolia|新疆 xinjiang|西藏 tibet|青海 qinghai|宁夏 ningxia
东京 tokyo|大阪 osaka|京都 kyoto|首尔 seoul|新加坡 singapore|曼谷 bangkok|巴黎 paris
伦敦 london|柏林 berlin|慕尼黑 munich münchen munchen|罗马 rome roma|米兰 milan milano
马德里 madrid|巴塞罗那 barcelona|里斯本 lisbon|维也纳 vienna wien|布拉格 prague praha
阿姆斯特丹 amsterdam|布鲁塞尔 brussels|苏黎世 zurich|日内瓦 geneva|奥斯陆 oslo|卑尔根 bergen
斯德哥尔摩 stockholm|哥本哈根 copenhagen|赫尔辛基 helsinki|莫斯科 moscow|华沙 warsaw
雅典 athens|伊斯坦布尔 istanbul|迪拜 dubai|开罗 cairo|纽约 york nyc newyork
洛杉矶 angeles la losangeles|旧金山 francisco sf sanfrancisco|西雅图 seattle|芝加哥 chicago
波士顿 boston|多伦多 toronto|温哥华 vancouver|悉尼 sydney|墨尔本 melbourne|奥克兰 auckland
孟买 mumbai bombay|新德里 delhi|都柏林 dublin|爱丁堡 edinburgh
美国 us usa america states american|英国 uk england britain british|法国 france french
德国 germany german|日本 japan japanese|韩国 korea korean|意大利 italy italian
西班牙 spain spanish|葡萄牙 portugal portuguese|荷兰 netherlands holland dutch
瑞士 switzerland swiss|瑞典 sweden swedish|挪威 norway norwegian|丹麦 denmark danish
芬兰 finland finnish|冰岛 iceland icelandic|俄罗斯 russia russian|加拿大 canada canadian
澳大利亚 australia australian|澳洲 australia australian|新西兰 zealand|泰国 thailand thai
越南 vietnam vietnamese|印度 india indian|巴西 brazil brazilian|墨西哥 mexico mexican
埃及 egypt egyptian|希腊 greece greek|土耳其 turkey turkish|马来西亚 malaysia|印尼 indonesia
台中 taichung|台南 tainan|新竹 hsinchu|桃园 taoyuan|基隆 keelung|嘉义 chiayi|花莲 hualien
屏东 pingtung|宜兰 yilan|苗栗 miaoli|彰化 changhua|南投 nantou|云林 yunlin|台东 taitung|新北
澎湖 penghu|金门 kinmen|淡水 tamsui|板桥 banqiao|三重 sanchong|中坜 zhongli|竹北 zhubei|新庄|新店
永和|汐止|左营 zuoying|九龙 kowloon|沙田 shatin|旺角 mongkok|铜锣湾|元朗 yuenlong|屯门
泉州 quanzhou|徐州 xuzhou|常州 changzhou|扬州 yangzhou|嘉兴 jiaxing|惠州 huizhou|汕头 shantou
柳州 liuzhou|包头 baotou|保定 baoding|唐山 tangshan|秦皇岛 qinhuangdao|潍坊 weifang|淄博 zibo
芜湖 wuhu|宜昌 yichang|岳阳 yueyang|株洲 zhuzhou|赣州 ganzhou|遵义 zunyi|湛江 zhanjiang
名古屋 nagoya|福冈 fukuoka|札幌 sapporo|冲绳 okinawa|横滨 yokohama|釜山 busan|清迈 chiangmai
河内 hanoi|吉隆坡 kualalumpur|槟城 penang|雅加达 jakarta|夏威夷 hawaii|休斯顿 houston
菲律宾 philippines|爱尔兰 ireland irish|波兰 poland polish|奥地利 austria austrian
"""

PLACES: Final = {
    row.split()[0]: tuple(row.split()[1:])
    for line in _TABLE.strip().splitlines()
    for row in line.split("|")
}
"""The other names of each place that is known by its Chinese one: the English ones folded."""

IN_CHINESE: Final = {
    english: chinese
    for chinese, names in PLACES.items()
    for english in names
    if len(english) > 3 and english.isascii()
}
"""The Chinese name of each place that is known by its English one."""
